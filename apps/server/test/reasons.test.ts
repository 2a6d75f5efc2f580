import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'
import { exchangeBytes } from './raw-http.ts'

const PROBLEM = { Accept: 'application/json, application/problem+json' }
const ada = { name: 'Ada', email: 'ada@example.com' }

test('C34 a stable code tells conflicts apart, in problem documents, in the envelope and in the client', async () => {
  await using server = await startTestServer()
  await server.request('POST', '/users', { json: ada, headers: { 'Idempotency-Key': 'k' } })
  const codeOf = async (method: string, path: string, json: object, headers: Record<string, string> = {}) => {
    const problem = await server.request(method, path, { json, headers: { ...PROBLEM, ...headers } })
    const enveloped = await server.request(method, `${path}?envelope=true`, { json, headers })
    const reason = [409, 412].includes(problem.status) ? problem.body.code : undefined
    expect([enveloped.body.error.code, enveloped.body.error.reason]).toEqual([problem.status, reason])
    expect(problem.body.type).toBe('about:blank')
    return [problem.status, problem.body.code]
  }
  expect(await codeOf('POST', '/users', { ...ada, name: 'Eve' })).toEqual([409, 'taken'])
  const reused = { 'Idempotency-Key': 'k' }
  expect(await codeOf('POST', '/users', { ...ada, name: 'Eve' }, reused)).toEqual([409, 'idempotency_key_reused'])
  expect(await codeOf('PATCH', '/api/users/1', { age: 1 }, { 'If-Match': '"9-User"' })).toEqual([412, 'stale_version'])
  expect(await codeOf('PATCH', '/api/users/1', { age: 1 }, { 'If-Match': 'W/"1-User"' })).toEqual([412, 'weak_tag'])
  expect(await codeOf('PATCH', '/api/users/9', { age: 1 })).toEqual([404, 'not_found'])
  expect(await codeOf('PATCH', '/api/users/1', { age: 'x' })).toEqual([400, 'bad_request'])
  const failed = await server.client.users.create.mutate(ada).catch((error) => error)
  expect([failed.status, failed.code, failed.reason]).toEqual([409, 'conflict', 'taken'])
})

test('C34 the API rules name every stable code', () => {
  const cwd = new URL('../../..', import.meta.url).pathname
  const read = (path: string) => readFileSync(`${cwd}/${path}`, 'utf8')
  const [, rule = ''] = /\*\*C34\*\*([\s\S]*?)\n- \*\*/.exec(read('docs/reference/api-rules.md')) ?? []
  const sources = globSync('{apps/server,packages/openapi}/src/**/*.ts', { cwd }).filter(
    (path) => !/testing/.test(path),
  )
  const codes = sources.flatMap((path) =>
    [...read(path).matchAll(/(?:\breason: |\bunauthorized\(.*, )'(\w+)'/g)].map(([, code = '']) => code),
  )
  expect(codes).toEqual(expect.arrayContaining(['ended_session', 'transition', 'streams']))
  expect(codes.filter((code) => !rule.includes(`\`${code}\``))).toEqual([])
})

test('C42 the 412 for a weak tag says why it never matches; a missing record and an invalid body come first', async () => {
  await using server = await startTestServer()
  const { body } = await server.request('POST', '/items', { json: { name: 'Lamp', price: 1 } })
  const weak = { 'If-Match': 'W/"1-Item.a"' }
  const refused = await server.request('PATCH', `/items/${body.item.id}`, { json: { price: 2 }, headers: weak })
  expect([refused.status, refused.body.message]).toEqual([
    412,
    expect.stringMatching(/weak tags never match.*compresses/),
  ])
  expect((await server.request('PATCH', '/items/9', { json: { price: 2 }, headers: weak })).status).toBe(404)
  expect((await server.request('PATCH', '/items/1', { json: { price: 'x' }, headers: weak })).status).toBe(400)
})

test('C46 a replayed answer is marked, over REST and tRPC', async () => {
  await using server = await startTestServer()
  const headers = { 'Idempotency-Key': 'k' }
  for (const [path, json] of [
    ['/items', { name: 'Lamp', price: 1 }],
    ['/trpc/items.create', { name: 'Lamp', price: 1 }],
  ] as const) {
    const keys = { 'Idempotency-Key': path }
    const first = await server.request('POST', path, { json, headers: keys })
    const again = await server.request('POST', path, { json, headers: keys })
    expect([first, again].map((answer) => answer.headers.get('idempotent-replayed'))).toEqual([null, 'true'])
    expect(again.body).toEqual(first.body)
  }
  const other = await server.request('POST', '/items', { json: { name: 'Desk', price: 1 }, headers })
  expect(other.headers.get('idempotent-replayed')).toBe(null)
})

test('C2 JSON over tRPC may be nested 34 levels deep', async () => {
  await using server = await startTestServer()
  const headers = { 'Content-Type': 'application/json' }
  const nested = (levels: number) =>
    `{"name":"Lamp","price":1,"x":${'['.repeat(levels - 1)}"]"${']'.repeat(levels - 1)}}`
  const send = (levels: number) => server.request('POST', '/trpc/items.create', { raw: nested(levels), headers })
  const deep = 'Body must not be nested deeper than 34 levels'
  expect((await send(34)).status).toBe(200)
  for (const levels of [35, 1_000_000]) {
    const { status, body } = await send(levels)
    expect([status, body.error.message]).toEqual([400, deep])
  }
  const stream = async (levels: number) => {
    const body = `{"0":${nested(levels - 1)}}`
    const accepts = { ...headers, 'trpc-accept': 'application/jsonl' }
    return (await fetch(`${server.url}/trpc/items.create?batch=1`, { method: 'POST', headers: accepts, body })).text()
  }
  expect(await stream(34)).toContain('"name":"Lamp"')
  expect(await stream(35)).toContain(deep)
})

test('C2 a body may have 50,000 values, over REST and tRPC', async () => {
  await using server = await startTestServer()
  const headers = { 'Content-Type': 'application/json' }
  // Commas in a string count no value.
  const wide = (values: number) =>
    `{"name":"Lamp, green","price":1${Array.from({ length: values - 2 }, (_, n) => `,"x${n}":0`).join('')}}`
  const answers = async (path: string, raw: string) => {
    const { status, body } = await server.request('POST', path, { raw, headers })
    return [status, body.item?.name ?? body.message ?? body.result?.data.name ?? body.error?.message]
  }
  for (const path of ['/api/proposals', '/items', '/trpc/items.create']) {
    expect(await answers(path, wide(50_001))).toEqual([413, 'Body must have at most 50,000 values'])
  }
  expect(await answers('/items', wide(50_000))).toEqual([201, 'Lamp, green'])
  expect(await answers('/trpc/items.create', wide(50_000))).toEqual([200, 'Lamp, green'])
})

test('C9 a request whose head is refused is not asked for its body', async () => {
  await using server = await startTestServer()
  const json = '{"name":"Lamp","price":1}'
  const answerTo = async (path: string, headers: string, body = '') => {
    const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n${headers}`
    const answer = await exchangeBytes(server.url, Buffer.from(`${head}\r\n\r\n${body}`))
    return [...String(answer).matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status))
  }
  const length = `Connection: close\r\nContent-Length: ${json.length}`
  expect(await answerTo('/items', length, json)).toEqual([100, 201])
  expect(await answerTo('/trpc/items.create', length, json)).toEqual([100, 200])
  expect(await answerTo('/trpc/items.create', length, '['.repeat(json.length))).toEqual([100, 400])
  // A parameter that no call has.
  expect(await answerTo('/trpc/items.create?x=1', length, json)).toEqual([400])
  expect(await answerTo('/trpc/items.unknown', length)).toEqual([404])
  expect((await answerTo('/items', 'Content-Length: 9999999'))[0]).toBe(413)
  await server.client.keys.create.mutate({ name: 'admin', role: 'admin' })
  expect((await answerTo('/items', length))[0]).toBe(401)
  expect((await answerTo('/trpc/items.create', length))[0]).toBe(401)
  expect((await answerTo('/trpc/items.create?x=1', length))[0]).toBe(401)
})
