import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'
import { openDatabase } from './records.ts'

test('a write that finds the database held by another process is a 503 with Retry-After, over tRPC too', async () => {
  await using server = await startTestServer()
  await using database = await openDatabase(server)
  const lamp = { name: 'Lamp', price: 1 }
  await database.write(async () => {
    const overRest = server.request('POST', '/items/', { json: lamp })
    const overTrpc = fetch(`${server.url}/trpc/items.create`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(lamp),
    })
    // Nobody else waits meanwhile.
    expect((await server.request('GET', '/healthz')).status).toBe(200)
    expect((await server.request('GET', '/items')).body).toEqual([])
    const { status, headers, body } = await overRest
    expect([status, headers.get('Retry-After'), body]).toEqual([
      503,
      '1',
      { message: 'The database is busy; try again' },
    ])
    const answer = await overTrpc
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, '1'])
    expect(await answer.json()).toMatchObject({ error: { data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503 } } })
  })
  expect((await server.request('POST', '/items/', { json: lamp })).status).toBe(201)
})
