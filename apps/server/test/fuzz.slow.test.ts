import { expect, test } from 'vitest'
import { createFuzzKey, fuzz, fuzzMalformed, seedOfRun } from './fuzz/fuzz.ts'
import { startTestServer } from './harness.ts'

test('four thousand random requests each get a timely response in a known form, and never a 5xx', async () => {
  await using server = await startTestServer({ RATE_LIMIT: '0' })
  const key = await createFuzzKey(server.url)
  const { statuses, failures } = await fuzz(server.url, { seed: seedOfRun(), count: 4_000, key })
  expect(failures.join('\n')).toBe('')
  // All kinds of responses occur, so the random requests were not all refused early.
  expect([...statuses]).toEqual(
    expect.arrayContaining([200, 201, 204, 304, 400, 401, 404, 405, 406, 409, 412, 413, 415]),
  )
  expect((await server.request('GET', '/healthz')).body).toEqual({ status: 'ok' })
}, 180_000)

test('five hundred malformed requests get the standard envelope or a closed connection, and the service survives', async () => {
  await using server = await startTestServer({ RATE_LIMIT: '0' })
  const { statuses, failures } = await fuzzMalformed(server.url, { seed: seedOfRun(), count: 500 })
  expect(failures.join('\n')).toBe('')
  expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 400, 404, 413, 431]))
  expect((await server.request('GET', '/healthz')).body).toEqual({ status: 'ok' })
}, 180_000)
