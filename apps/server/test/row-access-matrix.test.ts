import { type Database, searchKey } from '@resource/database'
import { expect, test } from 'vitest'
import type { Caller } from '../src/access/caller.ts'
import { newRequestId } from '../src/http/request-id.ts'
import { ada, bo, item, openService, root, type Sent, type Service } from './scoped-service.ts'

/** What tells answers apart that are not equal by chance: without times, cursors, ids of requests and of entries. */
async function comparable({ status, headers, text }: Awaited<ReturnType<Service['send']>>) {
  const plain = (part: string) =>
    part
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replace(/\b\d+-[a-z0-9]{8}\b/g, 'CURSOR')
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID')
      .replace(/"id":\d+(?=,"at":)/g, '"id":ENTRY')
      .replace(/(?<=audit\?.*after=)[\w-]+/g, 'ENTRY')
      .replace(/"meta":\{[^}]*\}/g, '"meta":{}')
  const body = plain(await text())
  return {
    status,
    headers: [...headers]
      .filter(([name]) => name !== 'content-length' && name !== 'age')
      .map(([name, value]) => `${name}: ${plain(value)}`),
    body,
  }
}

const book = (title: string, author: string) => ({ title, author, published_date: '2026-01-02' })

/** Stores records of both, or of Ada alone, with the same ids. @returns the ids of requests */
async function fill(service: Service, hasBoth: boolean) {
  const requests: Record<string, string> = {}
  const made = async (name: string, ...[method, path, json, as = root]: [string, string, object?, Caller?]) => {
    const headers = { 'X-Request-Group': '00000000-0000-4000-8000-000000000001' }
    const answer = await service.send(as, method, path, { headers, ...(json && { json }) })
    expect([name, answer.status, answer.status < 300 || (await answer.text())]).toEqual([name, answer.status, true])
    requests[name] = answer.requestId
  }
  /** A record of Bo, whose id is used up if it does not exist. */
  const others = async (name: string, path: string, json: ReturnType<typeof item> | ReturnType<typeof book>) => {
    if (hasBoth) await made(name, 'POST', path, json)
    else await useUpId(service.database, json)
  }
  await made('lamp', 'POST', '/items', item('Lamp', 10, 'ada'))
  await others('desk', '/items', item('Desk', 20, 'bo'))
  await made('chair', 'POST', '/items', item('Chair', 30, 'ada'))
  await others('lamp 2', '/items', item('Lamp', 40, 'bo'))
  await made('rug', 'POST', '/items', item('Rug', 50, 'ada'))
  await others('rug 2', '/items', item('Red rug', 60, 'bo'))
  await made('dune', 'POST', '/books', book('Dune', 'ada'))
  await others('emma', '/books', book('Emma', 'bo'))
  const some = hasBoth ? [1, 2, 3, 4] : [1, 3]
  await made(
    'dearer',
    'PATCH',
    '/items/bulk',
    some.map((id) => ({ id, price: id * 11 })),
  )
  if (hasBoth) await made('desk 2', 'PATCH', '/items/2', { name: 'Desk lamp' })
  if (hasBoth) await made('no rug', 'DELETE', '/items/6')
  await made('no rug of Ada', 'DELETE', '/items/5')
  const change = { operation: 'items.update', reason: 'why' }
  await made('proposal', 'POST', '/api/proposals', { ...change, input: { id: 1, price: 99 } }, ada)
  if (hasBoth) await made('proposal of Bo', 'POST', '/api/proposals', { ...change, input: { id: 2, price: 98 } }, bo)
  return requests
}

async function useUpId(database: Database, json: ReturnType<typeof item> | ReturnType<typeof book>) {
  await database.write(async ({ items, books }) => {
    if ('price' in json) {
      const [{ after }] = await items.write([{ create: { ...json, name_key: searchKey(json.name) } }])
      await items.write([{ id: after.id, delete: true }])
    } else {
      const [{ after }] = await books.write([{ create: { ...json, title_key: '', author_key: '' } }])
      await books.write([{ id: after.id, delete: true }])
    }
  })
}

const LISTS = [
  '?count=true',
  '?count=true&limit=1',
  '?count=true&limit=1&page=2',
  '?sort=name_asc&limit=1',
  '?sort=price_desc',
  '?sort=category_asc',
  '?category=bo',
  '?category=bo&count=true',
  '?id_gte=2',
  '?price_gte=20&count=true',
  '?q=lamp&count=true',
  '?q=desk',
  '?q=lamp&category=bo',
  '?name_contains=ru',
  '?after=&limit=1',
  '?after=&limit=1&sort=price_asc',
]
const previewed = (operation: string, input: object) => ({ json: { operation, input } })
const trpc = (input: object) => encodeURIComponent(JSON.stringify(input))

const READS: [method: string, path: string, sent?: Sent][] = [
  ...LISTS.map((query): [string, string] => ['GET', `/items${query}`]),
  ...[1, 2, 4, 5, 6, 9].map((id): [string, string] => ['GET', `/items/${id}`]),
  ['GET', '/items/2', { headers: { 'If-None-Match': '*' } }],
  ['GET', '/items/1?envelope=true'],
  ['GET', '/items/summaries'],
  ['GET', '/items/summaries?by=category&of=price'],
  ['GET', '/items/summaries?by=category&prefix=b'],
  ['GET', '/items/summaries?of=price&price_gte=15'],
  ['GET', '/items/summaries?of=price&category=bo'],
  ['GET', '/books?count=true'],
  ['GET', '/books/2'],
  ['GET', '/users?count=true'],
  ['GET', `/trpc/items.list?input=${trpc({ count: true })}`],
  ['GET', `/trpc/items.get?input=${trpc({ id: 2 })}`],
  ['GET', '/api/audit?count=true'],
  ['GET', '/api/audit?count=true&limit=2'],
  ['GET', '/api/audit?limit=2&page=2'],
  ['GET', '/api/audit?limit=1&after='],
  ['GET', '/api/audit?sort=id_asc&limit=3'],
  ['GET', '/api/audit?record_id=2'],
  ['GET', '/api/audit?record_id=1&resource=items'],
  ['GET', '/api/audit?procedure=items.updateMany'],
  ['GET', '/api/audit?group=00000000-0000-4000-8000-000000000001&at_gte=2026-01-01T00:00:00Z'],
  ['GET', '/api/audit/9999'],
  ['GET', '/api/changes?after=0-0'],
  ['GET', '/api/changes?after=0-0&limit=1'],
  ['GET', '/api/changes?after=0-0&resources=books'],
  ['GET', '/api/changes?after=0-0&resources=items&record_id=2'],
  ['GET', '/api/changes?after=0-0&resources=items&record_id=6'],
  ['GET', '/api/proposals?count=true'],
  ['GET', '/api/proposals?status=open&proposer=key%202'],
  ['GET', '/api/proposals/1'],
  ['GET', '/api/proposals/2'],
  ['GET', '/api/reversals?group=00000000-0000-4000-8000-000000000001'],
]

const change = { json: { price: 77 } }
const replacement = { json: item('Desk', 1, 'ada') }
const WRITES: typeof READS = [
  ['PATCH', '/items/2', change],
  ['PATCH', '/items/2', { ...change, headers: { 'If-Match': '"1-Item"' } }],
  ['PATCH', '/items/2', { ...change, headers: { 'If-Match': '*' } }],
  ['PATCH', '/items/2', { ...change, headers: { 'If-Match': 'W/"1-Item"' } }],
  ['PATCH', '/items/2', { json: { price: 'x' } }],
  ['PATCH', '/items/2?unknown=1', change],
  ['PATCH', '/items/9?unknown=1', change],
  ['PUT', '/items/2', replacement],
  ['PUT', '/items/2', { ...replacement, headers: { 'If-None-Match': '*' } }],
  ['DELETE', '/items/2'],
  ['DELETE', '/items/2', { headers: { 'If-Match': '"2-Item"' } }],
  [
    'PATCH',
    '/items/bulk',
    {
      json: [
        { id: 1, price: 12 },
        { id: 2, price: 12 },
      ],
    },
  ],
  [
    'PATCH',
    '/items/bulk?partial=true',
    {
      json: [
        { id: 2, price: 12 },
        { id: 1, price: 12 },
        { id: 4, if_version: 1, price: 1 },
      ],
    },
  ],
  [
    'PATCH',
    '/items/bulk?create=true&partial=true',
    { json: [{ id: 2, price: 12 }, item('New', 1, 'ada'), item('Bad', 1, 'bo')] },
  ],
  ['PATCH', '/items?price_gte=0', { json: { add: { price: 1 } } }],
  ['PATCH', '/items?id_in=1,2,4', { json: { set: { price: 5 } } }],
  ['PATCH', '/items?category=bo', { json: { set: { price: 5 } } }],
  ['PATCH', '/items?id_in=1', { json: { set: { category: 'bo' } } }],
  ['DELETE', '/items?category=bo'],
  ['DELETE', '/items?id_in=2,4'],
  ['POST', '/items', { json: item('Theft', 1, 'bo') }],
  ['POST', '/items/bulk', { json: [item('Fine', 1, 'ada'), item('Theft', 1, 'bo')] }],
  ['PATCH', '/items/1', { json: { category: 'bo' } }],
  ['PATCH', '/items/1', { json: { category: null } }],
  ['POST', '/api/previews', previewed('items.update', { id: 2, price: 1 })],
  ['POST', '/api/previews', previewed('items.update', { id: 1, price: 1 })],
  ['POST', '/api/previews', previewed('items.update', { id: 1, category: 'bo' })],
  ['POST', '/api/previews', previewed('items.deleteWhere', { price_gte: 0 })],
  ['POST', '/api/previews', previewed('items.updateWhere', { price_gte: 0, changes: { multiply: { price: 2 } } })],
  ['POST', '/api/previews', previewed('items.delete', { id: 2, if_version: 1 })],
  ['POST', '/api/proposals', { json: { operation: 'items.update', input: { id: 2, price: 1 }, reason: 'x' } }],
  ['PATCH', '/api/proposals/2', { json: { status: 'applied' } }],
  ['PATCH', '/api/proposals/2', { json: { status: 'rejected' } }],
  ['PATCH', '/api/proposals/2', { json: { status: 'withdrawn' } }],
  ['PATCH', '/api/proposals/1', { json: { status: 'applied' } }],
  ['POST', `/trpc/items.update`, { json: { id: 2, price: 1 } }],
  ['POST', `/trpc/items.deleteWhere`, { json: { id_in: [1, 2], price_gte: 1_000 } }],
]

test('no read and no write tells a caller of records outside his scope: all is as if they did not exist', async () => {
  await using both = await openService()
  await using alone = await openService()
  const requests = { both: await fill(both, true), alone: await fill(alone, false) }
  const compare = async (method: string, path: string, sent?: Sent, otherSent = sent) => {
    const seen = await comparable(await both.send(ada, method, path, sent))
    const expected = await comparable(await alone.send(ada, method, path, otherSent))
    expect({ method, path, sent, ...seen }).toEqual({ method, path, sent, ...expected })
    expect(seen.status).toBeLessThan(500)
    return seen.status
  }
  const undo = (name: string) => {
    const [one, other] = [requests.both[name], requests.alone[name]].map((id) => ({
      json: { request_id: id ?? newRequestId() },
    }))
    return compare('POST', '/api/reversals', one, other)
  }
  for (const read of READS) await compare(...read)
  expect(await undo('dearer')).toBe(201)
  for (const write of WRITES) await compare(...write)
  for (const name of ['dearer', 'desk', 'desk 2', 'no rug', 'proposal of Bo']) await undo(name)
  expect(await undo('no rug of Ada')).toBe(201)
  for (const [method, path, sent] of READS) {
    // Not the summary of before: one that took long is reused.
    const isSummary = path.includes('/summaries')
    await compare(method, isSummary ? `${path}${path.includes('?') ? '&' : '?'}limit=50` : path, sent)
  }
  // Nothing of Bo has changed.
  const { text } = await both.send(bo, 'GET', '/items')
  expect(JSON.parse(await text())).toEqual([
    { id: 2, name: 'Desk lamp', price: 22, category: 'bo' },
    { id: 4, name: 'Lamp', price: 44, category: 'bo' },
  ])
})
