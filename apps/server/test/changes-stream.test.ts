import { once } from 'node:events'
import { get } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openEvents } from './event-source.ts'
import { bearer, startTestServer } from './harness.ts'
import { leastMs } from './least.ts'

const LAMP = { name: 'Lamp', price: 24.5 }

test('a stream begins with its position, and has each change as JSON has it', async () => {
  await using server = await startTestServer()
  await using events = await openEvents(`${server.url}/api/changes`)
  expect(events.status).toBe(200)
  expect(Object.fromEntries(events.headers)).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  })
  expect(await events.next()).toEqual({ event: 'position', id: '0-0', data: { cursor: '0-0' } })
  await server.client.items.create.mutate(LAMP)
  await server.client.items.delete.mutate({ id: 1 })
  const first = await events.next()
  const second = await events.next()
  const { changes } = await server.client.changes.list.query({ after: '0-0' })
  expect([first, second]).toEqual(changes.map((data) => ({ event: 'change', id: data.cursor, data })))
})

test('Last-Event-ID continues a stream, and wins over after', async () => {
  await using server = await startTestServer()
  for (const name of ['a', 'b', 'c']) await server.client.items.create.mutate({ name, price: 1 })
  const { changes } = await server.client.changes.list.query({ after: '0-0' })
  const after = `${server.url}/api/changes?after=${changes[0]?.cursor}`
  await using events = await openEvents(after)
  expect((await events.next())?.id).toBe(changes[0]?.cursor)
  expect(await events.changes(2)).toEqual(changes.slice(1))
  await using later = await openEvents(after, { 'Last-Event-ID': `${changes[1]?.cursor}` })
  expect((await later.next())?.id).toBe(changes[1]?.cursor)
  expect(await later.changes(1)).toEqual(changes.slice(2))
  const refused = await openEvents(after, { 'Last-Event-ID': 'x' })
  expect([refused.status, (await refused.json()).error.fields]).toEqual([
    400,
    [{ field: 'Last-Event-ID', message: 'must be a cursor of the feed' }],
  ])
})

test('a stream of one resource tells its position after a thousand other changes', async () => {
  await using server = await startTestServer()
  await using events = await openEvents(`${server.url}/api/changes?resources=users`)
  await events.next()
  const items = Array.from({ length: 1000 }, (_, index) => ({ name: `${index}`, price: 1 }))
  await server.client.items.createMany.mutate({ items })
  const event = await events.next()
  expect(event).toMatchObject({ event: 'position', data: { cursor: event?.id } })
  expect(Number(event?.id.split('-')[0])).toBeGreaterThanOrEqual(1000)
})

test('a stream reads what is no longer in memory from the database, in order', async () => {
  await using server = await startTestServer()
  const total = 2500
  for (let first = 0; first < total; first += 500) {
    const items = Array.from({ length: 500 }, (_, index) => ({ name: `${first + index}`, price: 1 }))
    await server.client.items.createMany.mutate({ items })
  }
  await using events = await openEvents(`${server.url}/api/changes?after=0-0`)
  const names = (await events.changes(total)).map(({ record }) => Number(record.name))
  expect(names).toEqual(Array.from({ length: total }, (_, index) => index))
})

test('a stream ends within a second after its key was revoked, rotated or expired, a wait with a 401', async () => {
  await using server = await startTestServer()
  const { keys, items } = server.client
  const admin = await keys.create.mutate({ name: 'admin', role: 'admin' })
  server.logIn(admin.key)
  const url = `${server.url}/api/changes`
  await using kept = await openEvents(url, bearer(admin.key))
  await kept.next()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  onTestFinished(() => void vi.useRealTimers())
  const ends: ((id: number) => unknown)[] = [
    (id) => keys.revoke.mutate({ id }),
    (id) => keys.rotate.mutate({ id }),
    () => vi.setSystemTime(Date.now() + 60_000),
  ]
  let created = 0
  for (const end of ends) {
    const endMs = async () => {
      const expires_at = new Date(Date.now() + 60_000).toISOString()
      const { id, key } = await keys.create.mutate({ name: 'reader', role: 'reader', expires_at })
      await using events = await openEvents(url, bearer(key))
      await events.next()
      created++
      await items.create.mutate(LAMP)
      expect(await events.changes(1)).toMatchObject([{ type: 'items.created' }])
      const waiting = server.request('GET', '/api/changes?wait=20', { headers: bearer(key) })
      // It has arrived when a later request is answered.
      await server.request('GET', '/items', { headers: bearer(key) })
      await end(id)
      const ms = await events.ended()
      expect((await waiting).status).toBe(401)
      return ms
    }
    expect(await leastMs(1_000, endMs)).toBeLessThan(1_000)
  }
  expect(await kept.changes(created)).toHaveLength(created)
})

test('a stream without credentials ends within a second after the first key was created', async () => {
  const endMs = async () => {
    await using server = await startTestServer()
    await using events = await openEvents(`${server.url}/api/changes`)
    await events.next()
    await server.client.keys.create.mutate({ name: 'admin', role: 'admin' })
    return await events.ended()
  }
  expect(await leastMs(1_000, endMs)).toBeLessThan(1_000)
})

test('a stream that its client closes is no aborted request', async () => {
  await using server = await startTestServer()
  const request = get(`${server.url}/api/changes`, { headers: { Accept: 'text/event-stream' } })
  const [answer] = await once(request, 'response')
  await once(answer, 'data')
  // As a client that ends with unread data.
  answer.socket.resetAndDestroy()
  await once(answer, 'error')
  const lines = () => server.log.map((line) => JSON.parse(line)).filter(({ path }) => path === '/api/changes')
  await expect.poll(lines).toMatchObject([{ status: 200, msg: 'request' }])
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  expect(metrics).not.toContain('status="aborted"')
})

test('the service stops at once although streams are open and requests wait', async () => {
  const stopMs = async () => {
    const server = await startTestServer()
    await using events = await openEvents(`${server.url}/api/changes`)
    await events.next()
    const waiting = server.request('GET', '/api/changes?after=0-0&wait=25')
    // It has arrived when a later request is answered.
    await server.request('GET', '/items')
    const startMs = performance.now()
    await Promise.all([server.stop(), events.ended()])
    const ms = performance.now() - startMs
    expect((await waiting).body).toEqual({ changes: [], cursor: '0-0' })
    return ms
  }
  expect(await leastMs(1_000, stopMs)).toBeLessThan(1_000)
})

test('streams have limits: of the process a 503, of a caller a 429', async () => {
  await using server = await startTestServer({ MAX_STREAMS: '100', MAX_REQUESTS: '1' })
  const admin = await server.client.keys.create.mutate({ name: 'admin', role: 'admin' })
  server.logIn(admin.key)
  const url = `${server.url}/api/changes`
  await using one = await openEvents(url, bearer(admin.key))
  await using two = await openEvents(url, bearer(admin.key))
  for (const stream of [one, two]) await stream.next()
  const third = await openEvents(url, bearer(admin.key))
  expect([third.status, third.headers.get('retry-after')]).toEqual([429, '1'])
  expect((await third.json()).error.message).toBe('A caller may have at most 2 of the streams; close one first')
  expect((await server.request('GET', '/api/changes?wait=1')).status).toBe(429)
  // They take no place of other requests, of which only one may be in progress.
  expect((await server.request('GET', '/items')).status).toBe(200)
  await one[Symbol.asyncDispose]()
  await expect.poll(async () => (await openEvents(url, bearer(admin.key))).status).toBe(200)
  await using none = await startTestServer({ MAX_STREAMS: '0' })
  const refused = await openEvents(`${none.url}/api/changes`)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
})

test('callers get the form that they prefer; a HEAD gets its headers and opens no stream', async () => {
  await using server = await startTestServer({ MAX_STREAMS: '0' })
  const answers = await Promise.all(
    ['*/*', 'application/json, text/event-stream', 'text/event-stream;q=0.5, application/json'].map(async (Accept) => {
      const answer = await fetch(`${server.url}/api/changes`, { headers: { Accept } })
      return [answer.headers.get('content-type'), await answer.json()]
    }),
  )
  expect(answers).toEqual(Array(3).fill(['application/json; charset=utf-8', { changes: [], cursor: '0-0' }]))
  for (const Accept of ['text/event-stream', 'application/json;q=0.5, text/event-stream', 'text/event-stream, */*']) {
    expect((await openEvents(`${server.url}/api/changes`, { Accept })).status).toBe(503)
    const { status, headers } = await fetch(`${server.url}/api/changes`, { method: 'HEAD', headers: { Accept } })
    expect([status, headers.get('content-type'), headers.get('x-accel-buffering')]).toEqual([
      200,
      'text/event-stream',
      'no',
    ])
  }
  const headers = { Accept: 'text/event-stream' }
  expect((await fetch(`${server.url}/api/changes?after=1-0`, { method: 'HEAD', headers })).status).toBe(410)
  expect((await fetch(`${server.url}/items`, { headers })).status).toBe(406)
})
