import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { makeDatabase, startPostgres } from '../../packages/postgres-test/src/postgres.ts'
import { root } from '../run-command.mjs'
import type { Clone } from './clone.ts'
import { addOrders, lookAtOrders, named, removeLines, testOrders, useOrders, useOrdersOfOwner } from './guide.ts'
import { lookAtConsole } from './parcels-console.ts'

// A resource for this test only, which uses every feature of a declaration.
const fixtures = join(root, 'scripts/test/every-feature')
const HASH = "createHash('sha256').update(pin).digest('hex')"
const RULES = `parcels: {
  derived: {
    pin_hash: { from: 'pin', make: (pin: string) => ${HASH} },
    label: { from: ['code', 'cost'], make: (code: string, cost: number) => code + ' for ' + cost },
  },
  compute: ({ after }) => ({ cost: after.weight * after.pieces }),
  scope: ({ role, subject }) => (role === 'admin' ? undefined : { code: subject, user_id: { not: null } }),
  procedures: ({ update }) => ({ setStatus: (input, context) => update(input, context) as never }),
}, books: { scope: ({ role }) => (role === 'admin' ? undefined : 'nothing') }`

/**
 * Follows the guide, adds a resource with every feature of a declaration, uses both in every way on both engines, and removes what
 * the guide removes. One build and one start are for both: they take longer than the rest.
 */
export async function useEveryFeature(clone: Clone): Promise<void> {
  addOrders(clone)
  declareParcels(clone.folder)
  // The steps of npm, of which an earlier command has fetched pnpm.
  expect(clone.run('node scripts/run.mjs new --help 2>&1')).toMatch(/^Installing packages: done/)
  clone.run('node prisma/scripts/new-migration.ts add_parcels')
  clone.run('node scripts/openapi-snapshot.ts --write --quiet')
  copyFileSync(join(fixtures, 'typed-calls.txt'), join(clone.folder, 'apps/server/test/typed-calls.ts'))
  clone.run('npx --no-install tsc -p apps/server --noEmit --singleThreaded')
  testOrders(clone)
  {
    await using service = await clone.start('npm start')
    await useOrders(service.url)
    await lookAtOrders(service.url)
    await useEverything(service.url, (command) =>
      clone.run(`npm run --silent resource -- --url ${service.url} ${command}`),
    )
    await lookAtConsole(service.url)
    await deleteWhileReferred(service.url)
    await undoCascades(service.url)
    await includeInScope(service.url)
  }
  seed(clone.run, 'npm run --silent seed --', 'file:./data/seeded.db')
  await using postgres = await startPostgres()
  // Without the steps of npm, which have nothing left to build.
  seed(clone.run, 'node apps/server/scripts/seed/main.ts', await makeDatabase(postgres.url))
  {
    await using service = await clone.start('node apps/server/src/main.ts', { DATABASE_URL: postgres.url })
    await useOrders(service.url)
    await useEverything(service.url)
    await deleteWhileReferred(service.url)
    await undoCascades(service.url)
    await includeInScope(service.url)
  }
  removeLines(clone)
}

function declareParcels(folder: string) {
  const edit = (path: string, change: (text: string) => string) =>
    writeFileSync(join(folder, path), change(readFileSync(join(folder, path), 'utf8')))
  copyFileSync(join(fixtures, 'parcels.txt'), join(folder, 'packages/contract/src/parcels.ts'))
  edit(
    'packages/contract/src/writable.ts',
    (list) => `import { parcels } from './parcels.ts'\n${list.replace('items,', 'items, parcels,')}`,
  )
  // A delete of a book cascades to its parcels, of which those that are lost require this role.
  edit('packages/contract/src/books.ts', (books) => books.replace("noun: 'books',", "$& access: { delete: 'admin' },"))
  edit('prisma/schema.prisma', (models) => models.replace(/(?<=^model (?:User|Book) \{\n)/gm, '  parcels Parcel[]\n'))
  appendFileSync(join(folder, 'prisma/schema.prisma'), readFileSync(join(fixtures, 'parcels.prisma')))
  edit(
    'apps/server/src/operations.ts',
    (operations) =>
      `import { createHash } from 'node:crypto'\n${operations.replace(/(?<=users: userRules\(checkPassword\))/, `, ${RULES}`)}`,
  )
}

/** Fills an empty database with sample data; parcels have no samples, so theirs follow from the declaration. */
function seed(run: (command: string) => string, command: string, database: string) {
  const created = run(
    `${command} --count users=5,books=5,items=0,parcels=20,${named('orders=2,lines=0')} --database '${database}'`,
  )
  expect(created).toMatch(/^users: 5 created\nbooks: 5 created\nitems: 0 created\nparcels: 20 created\n/)
  expect(created).toContain(`\n${named('orders')}: 2 created\n`)
  const parcels = JSON.parse(run(`npm run --silent resource -- parcels list --json --database '${database}'`))
  expect(new Set(parcels.map(({ code }: typeof first) => code)).size).toBe(20)
  for (const { weight, pieces, cost, user_id } of parcels as (typeof first)[]) {
    expect(cost).toBeCloseTo(weight * pieces, 1)
    expect([weight >= 0 && weight <= 1000, pieces >= 1 && pieces <= 99]).toEqual([true, true])
    expect([1, 2, 3, 4, 5]).toContain(user_id)
  }
}

const json = async (url: string, method = 'GET', body?: unknown) => {
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  const text = await response.text()
  return [response.status, text === '' ? undefined : JSON.parse(text)] as const
}

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const times = { created_at: TIME, updated_at: TIME }
const first = {
  ...{ code: 'P-1', weight: 2.5, pieces: 1, fragile: false, due: null, sent_at: '2026-01-02T03:04:05.000Z' },
  ...{ status: 'packed', user_id: 1, book_id: 1, cost: 2.5 },
}
const second = {
  ...{ code: 'P-2', weight: 1, pieces: 3, fragile: true, due: '2026-05-01', sent_at: null },
  ...{ status: 'sent', user_id: 1, book_id: null, cost: 3 },
}

/** Checks the responses of every kind of call. The service must have no records. */
async function useEverything(url: string, resource?: (command: string) => string) {
  await json(`${url}/users`, 'POST', { name: 'Ada', email: 'ada@example.com' })
  await json(`${url}/books`, 'POST', { title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01' })
  const { pieces: _, fragile: __, due: ___, status: ____, ...least } = first
  expect(await json(`${url}/parcels`, 'POST', { ...least, sent_at: '2026-01-02T03:04:05Z', pin: '1234' })).toEqual([
    201,
    { id: 1, ...first, ...times },
  ])
  // Errors name the field as the caller sent it; in a bulk create with its index.
  const missing = 'must be the id of an existing record'
  expect(await json(`${url}/parcels`, 'POST', { ...second, user_id: 9 })).toEqual([
    409,
    { message: `user_id: ${missing}` },
  ])
  expect(await json(`${url}/parcels`, 'POST', first)).toEqual([
    409,
    { message: 'code: already in use by another parcel' },
  ])
  expect(await json(`${url}/parcels/bulk`, 'POST', [second, { ...second, code: 'P-3', book_id: 7 }])).toEqual([
    409,
    { message: `[1].book_id: ${missing}` },
  ])
  expect((await json(`${url}/trpc/parcels.createMany`, 'POST', { parcels: [second, first] }))[1]).toMatchObject({
    error: { data: { fields: [{ field: 'parcels[1].code', message: 'already in use by another parcel' }] } },
  })
  expect(await json(`${url}/parcels`, 'POST', { ...second, weight: 1001 })).toEqual([
    400,
    { message: 'weight: must be a number from 0 to 1000' },
  ])
  expect((await json(`${url}/parcels/bulk`, 'POST', [second]))[0]).toBe(201)
  // Filters and sorts.
  const codes = async (query: string) => (await json(`${url}/parcels?${query}`))[1].map((row: typeof first) => row.code)
  expect(await codes('status=sent')).toEqual(['P-2'])
  expect(await codes('status_in=packed,sent&sort=weight_asc')).toEqual(['P-2', 'P-1'])
  expect(await codes('pieces_in=2,3')).toEqual(['P-2'])
  expect(await codes('fragile=false')).toEqual(['P-1'])
  expect(await codes('weight_gte=1&weight_lt=2.5')).toEqual(['P-2'])
  expect(await codes('due_lte=2026-05-01')).toEqual(['P-2'])
  expect(await codes('user_id=1&sort=code_desc')).toEqual(['P-2', 'P-1'])
  const ofUser = async (id: number) => json(`${url}/users/${id}/parcels?limit=1&sort=code_desc`)
  expect(await ofUser(1)).toMatchObject([200, [{ code: 'P-2' }]])
  expect((await ofUser(9))[0]).toBe(404)
  // Answers with the records that they refer to.
  const user = { id: 1, name: 'Ada', email: 'ada@example.com', role: 'user', created_at: TIME }
  const book = { id: 1, title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01' }
  expect(await json(`${url}/parcels?include=book,user&fields=code&sort=id_asc`)).toEqual([
    200,
    [
      { code: 'P-1', user, book },
      { code: 'P-2', user, book: null },
    ],
  ])
  expect(await json(`${url}/users/1/parcels?include=user&fields=code&limit=1`)).toEqual([200, [{ code: 'P-1', user }]])
  expect(await json(`${url}/parcels/1?include=book`)).toEqual([200, { id: 1, ...first, ...times, book }])
  // Search, summaries, and writes of many records.
  expect(await codes('q=p-2&created_at_gte=2026-01-01T00:00:00Z')).toEqual(['P-2'])
  expect(await codes('code_contains=p-1')).toEqual(['P-1'])
  expect((await json(`${url}/parcels/summaries?by=status&of=weight`))[1]).toEqual([
    { value: 'packed', count: 1, minimum: 2.5, mean: 2.5, maximum: 2.5 },
    { value: 'sent', count: 1, minimum: 1, mean: 1, maximum: 1 },
  ])
  expect(await json(`${url}/parcels/bulk?key=code`, 'PATCH', [{ code: 'P-2', pieces: 4 }])).toMatchObject([
    200,
    [{ status: 200, record: { code: 'P-2', pieces: 4, version: 2 } }],
  ])
  const where = `${url}/parcels?status=sent`
  expect(await json(where, 'PATCH', { set: { pieces: 3 }, multiply: { weight: 2 } })).toEqual([
    200,
    { matched: 1, changed: 1 },
  ])
  // A computed field follows every write, and no request sets it.
  expect(await codes('cost_gte=6&sort=cost_desc')).toEqual(['P-2'])
  const refused = expect.stringMatching(/^No recognized field: cost; the fields are: code, weight, /)
  expect(await json(`${url}/parcels/1`, 'PATCH', { cost: 9 })).toEqual([400, { message: refused }])
  expect(await json(`${url}/parcels/bulk`, 'PATCH', [{ id: 1, cost: 9 }])).toEqual([
    400,
    { message: '[0].cost: is not a recognized field' },
  ])
  expect(await json(where, 'PATCH', { multiply: { cost: 2 } })).toEqual([
    400,
    { message: 'multiply.cost: is not a recognized field' },
  ])
  expect(
    (await json(`${url}/trpc/parcels.update`, 'POST', { id: 1, weight: 0.1, pieces: 3, cost: 9 }))[1],
  ).toMatchObject({
    result: { data: { cost: 0.3 } },
  })
  // An extra procedure and an extra binding.
  expect(await json(`${url}/parcels/1/status`, 'PATCH', { status: 'sent' })).toMatchObject([200, { status: 'sent' }])
  expect(await json(`${url}/parcels/1/label`)).toEqual([200, { id: 1, code: 'P-1' }])
  const [, document] = await json(`${url}/openapi.json`)
  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining([
      '/parcels',
      '/parcels/bulk',
      '/parcels/{id}',
      '/parcels/{id}/label',
      '/parcels/{id}/status',
    ]),
  )
  const { Parcel, ParcelCreate } = document.components.schemas
  expect(Parcel.properties).not.toHaveProperty('pin')
  expect(Parcel.properties.cost).toEqual({ type: 'number', format: 'double', readOnly: true })
  expect(ParcelCreate.properties).not.toHaveProperty('cost')
  if (resource !== undefined) useCommandLine(resource)
  // Deletes of referenced records: restricted, or cascading with an audit entry per record.
  const count = (await codes('user_id=1')).length
  expect(await json(`${url}/users/1`, 'DELETE')).toEqual([
    409,
    { error: `${count} parcels refer to the user by user_id: delete or change them first` },
  ])
  expect((await json(`${url}/books/1`, 'DELETE'))[0]).toBe(204)
  expect((await json(`${url}/parcels/1`))[0]).toBe(404)
  const [, entries] = await json(`${url}/api/audit?sort=id_asc`)
  expect(entries.filter(({ procedure }: { procedure: string }) => procedure === 'books.delete')).toMatchObject([
    { resource: 'books', record_id: 1, after: null },
    { resource: 'parcels', record_id: 1, before: { code: 'P-1' }, after: null },
  ])
  expect(entries).toContainEqual(
    expect.objectContaining({ procedure: 'parcels.setStatus', before: expect.objectContaining({ status: 'packed' }) }),
  )
  const createdBy = (name: string) => entries.find(({ procedure }: { procedure: string }) => procedure === name).after
  expect(createdBy('parcels.create')).toMatchObject({ code: 'P-1', pin: 'set' })
  expect(createdBy('parcels.createMany')).not.toHaveProperty('pin')
  expect(JSON.stringify(entries)).not.toContain('1234')
}

function useCommandLine(resource: (command: string) => string) {
  expect(JSON.parse(resource('parcels list --status-in sent,lost --sort code_desc --json'))).toMatchObject([
    { code: 'P-2' },
    { code: 'P-1' },
  ])
  const exported = resource('export --type parcels --format csv')
  expect(exported.split('\r\n')[0] ?? '').toContain(
    'code,weight,pieces,fragile,due,sent_at,status,user_id,book_id,cost',
  )
  // An import leaves out the columns that no request sets.
  resource('export --type parcels --output data/parcels.csv')
  resource('import data/parcels.csv --type parcels --update')
  expect(JSON.parse(resource('parcels create --code P-4 --weight 3 --user-id 1 --fragile --json'))).toMatchObject({
    code: 'P-4',
    fragile: true,
    cost: 3,
  })
}

/** Creates a hundred parcels while the records that they refer to are deleted. */
async function deleteWhileReferred(url: string) {
  const [, { id: user_id }] = await json(`${url}/users`, 'POST', { name: 'Bo', email: 'bo@example.com' })
  const [, { id: book_id }] = await json(`${url}/books`, 'POST', {
    title: 'Emma',
    author: 'Jane Austen',
    published_date: '1815-12-23',
  })
  const parcel = (n: number) => ({ code: `R-${n}`, weight: 1, user_id, book_id })
  const calls = Array.from({ length: 100 }, (_, n) => async () => (await json(`${url}/parcels`, 'POST', parcel(n)))[0])
  calls.splice(30, 0, async () => (await json(`${url}/users/${user_id}`, 'DELETE'))[0])
  calls.splice(60, 0, async () => (await json(`${url}/books/${book_id}`, 'DELETE'))[0])
  const statuses = await Promise.all(calls.map((call) => call()))
  expect(new Set(statuses.map((status) => (status === 503 ? 'busy' : status)))).not.toContain(500)
  const exists = async (path: string) => (await json(url + path))[0] === 200
  const [, left] = await json(`${url}/parcels?user_id=${user_id}&limit=1000`)
  if (left.length > 0) expect(await exists(`/users/${user_id}`)).toBe(true)
  const owned = left.filter((row: typeof first) => row.book_id === book_id)
  if (owned.length > 0) expect(await exists(`/books/${book_id}`)).toBe(true)
  for (const status of statuses) expect([200, 201, 204, 409, 503]).toContain(status)
}

/** Undoes a deletion that cascaded to other records, and creations to which others refer by now. */
async function undoCascades(url: string) {
  const write = async (path: string, method: string, body?: object) => {
    const headers = { 'Content-Type': 'application/json' }
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const text = await response.text()
    expect([path, response.ok, text]).toEqual([path, true, text])
    return { request_id: response.headers.get('X-Request-Id'), id: text && JSON.parse(text).id }
  }
  const undo = async ({ request_id }: { request_id: string | null }) => {
    const [status, body] = await json(`${url}/api/reversals`, 'POST', { request_id })
    return [status, body.error?.message ?? body]
  }
  const user = await write('/users', 'POST', { name: 'Cy', email: 'cy@example.com' })
  const emma = { title: 'Persuasion', author: 'Jane Austen', published_date: '1817-12-20' }
  const book = await write('/books', 'POST', emma)
  const parcel = { weight: 1, user_id: user.id, pin: '1234' }
  for (const n of [1, 2, 3]) await write('/parcels', 'POST', { ...parcel, code: `C-${n}`, book_id: book.id })
  const other = await write('/parcels', 'POST', { ...parcel, code: 'C-4' })
  const parcels = async () => (await json(`${url}/parcels?user_id=${user.id}&sort=id_asc`))[1]
  const before = await parcels()
  const [first] = before
  const deleted = await write(`/books/${book.id}`, 'DELETE')
  expect(await parcels()).toMatchObject([{ id: other.id, code: 'C-4' }])
  expect(await undo(deleted)).toEqual([201, { request_id: deleted.request_id, restored: 4, updated: 0, deleted: 0 }])
  expect([await parcels(), await json(`${url}/books/${book.id}`)]).toEqual([before, [200, { id: book.id, ...emma }]])
  expect(await undo(book)).toEqual([
    412,
    `parcels[${first.id}]: refers by book_id to a record that would be deleted: delete or change it first`,
  ])
  expect((await undo(user))[0]).toBe(409)
  const again = await write(`/books/${book.id}`, 'DELETE')
  await write(`/parcels/${other.id}`, 'DELETE')
  await write(`/users/${user.id}`, 'DELETE')
  const [status, message] = await undo(again)
  expect([status, message]).toEqual([409, expect.stringContaining('user_id: must be the id of an existing record')])
  expect(await parcels()).toEqual([])
}

/** As an owner of orders, reads his parcel with records of which one exists for him and the other does not. */
async function includeInScope(url: string) {
  const create = async (path: string, record: object) => (await json(url + path, 'POST', record))[1].id
  const user_id = await create('/users', { name: 'Di', email: 'di@example.com' })
  const book_id = await create('/books', { title: 'Sula', author: 'Toni Morrison', published_date: '1973-11-01' })
  const id = await create('/parcels', { code: 'mira', weight: 1, user_id, book_id })
  const key = await useOrdersOfOwner(url)
  for (const [path, shown] of [
    ['/parcels?include=book,user&fields=code,book_id', (record: object) => [record]],
    [`/parcels/${id}?include=book,user&fields=code,book_id`, (record: object) => record],
  ] as const) {
    const response = await fetch(url + path, { headers: { Authorization: `Bearer ${key}` } })
    const record = { code: 'mira', book_id, user: expect.objectContaining({ id: user_id, name: 'Di' }), book: null }
    expect([path, response.status, await response.json()]).toEqual([path, 200, shown(record)])
  }
}
