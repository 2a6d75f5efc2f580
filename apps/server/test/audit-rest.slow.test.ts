// Every operation calls a procedure, and those are tested on both engines, so these tests run on SQLite only.
import { expect, test } from 'vitest'
import { exampleOf, operationIds, SEEDED, seed } from './examples.ts'
import { preparedServers } from './harness.ts'

const startSeeded = preparedServers(seed)

for (const operationId of operationIds) {
  const { method, path, json } = exampleOf(operationId)
  if (method === 'GET') continue

  test(`C55 ${operationId} (${method} ${path}) records one entry under the id of its request`, async () => {
    await using server = await startSeeded()
    const { headers } = await server.request(method, path, { json })
    const { status, body } = await server.request('GET', '/api/audit?sort=id_asc')
    expect(status).toBe(200)
    const entry = expect.objectContaining({ id: SEEDED + 1, request_id: headers.get('x-request-id') })
    // A preview and a proposal change no record.
    expect(body.slice(SEEDED)).toEqual(/\/(previews|proposals)$/.test(path) ? [] : [entry])
  })
}
