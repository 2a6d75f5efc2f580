import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { postgresDatabase } from './database.ts'
import { spawnService, temporaryFolder } from './service-process.ts'

const KILL_BEFORE_RESPONSE = fileURLToPath(new URL('kill-before-response.mjs', import.meta.url))

const lamp = { name: 'Lamp', price: 24.5 }
const ada = { name: 'Ada', email: 'ada@example.com', password: 'analytical' }
const bob = { name: 'Bob', email: 'bob@example.com' }

for (const { what, path, list, json, first } of [
  { what: 'an item', path: '/items/', list: '/items', json: lamp, first: { item: { id: 1, ...lamp, category: null } } },
  {
    what: 'a user with a password',
    path: '/api/users',
    list: '/api/users',
    json: ada,
    first: { id: 1, name: 'Ada', email: 'ada@example.com', role: 'user', created_at: expect.any(String) },
  },
  {
    what: 'users in bulk',
    path: '/api/users/bulk',
    list: '/api/users',
    json: [bob],
    first: [{ id: 1, ...bob, role: 'user', created_at: expect.any(String) }],
  },
]) {
  test(`after a kill between the write of ${what} and the response, a retry at another process gets the first response`, async () => {
    await using folder = await temporaryFolder()
    const database = await postgresDatabase()
    const environment: Record<string, string> = database ? { DATABASE_URL: database.url } : {}
    await using other = spawnService(folder.path, environment)
    const otherUrl = await other.url()
    await using dying = spawnService(folder.path, { ...environment, NODE_OPTIONS: `--import ${KILL_BEFORE_RESPONSE}` })
    const create = async (url: string) => {
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'once' }
      const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(json) })
      return { status: response.status, location: response.headers.get('Location'), body: await response.json() }
    }
    const stored = async () => (await fetch(otherUrl + list)).json()

    await expect(create(await dying.url())).rejects.toThrow('fetch failed')
    expect((await dying.exited).code).toBe(null)
    // The write is stored; only the response was lost.
    expect(await stored()).toHaveLength(1)
    const again = await create(otherUrl)
    expect(again).toMatchObject({ status: 201, body: first })
    expect(await create(otherUrl)).toEqual(again)
    expect(await stored()).toHaveLength(1)
    database?.release()
  })
}
