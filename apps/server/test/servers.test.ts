import { createClient } from '@resource/client'
import { expect, test } from 'vitest'
import { postgresDatabase } from './database.ts'
import { PATIENT } from './harness.ts'
import { spawnService, temporaryFolder } from './service-process.ts'

const SERVERS = 3

/** Starts servers in separate processes at the same time on one new database, which is all they share. */
async function startServers() {
  const folder = await temporaryFolder()
  const database = await postgresDatabase({ fresh: true })
  const environment = { ...PATIENT, DATABASE_URL: database?.url ?? 'file:./data/shared.db' }
  const services = Array.from({ length: SERVERS }, () => spawnService(folder.path, environment))
  const urls = await Promise.all(services.map((service) => service.url()))
  return {
    urls,
    /** Sends `count` concurrent requests, distributed to the servers round-robin. */
    each: (count: number, request: (url: string, n: number) => Promise<Response>) =>
      Promise.all(Array.from({ length: count }, (_, n) => request(urls[n % SERVERS] as string, n))),
    [Symbol.asyncDispose]: async () => {
      for (const service of services) await service[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

function send(method: string, url: string, body: object, headers: Record<string, string> = {}) {
  return fetch(url, { method, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) })
}

function statuses(answers: Response[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

test('three servers that start together on one new database keep its guarantees', async () => {
  await using servers = await startServers()
  const [url = ''] = servers.urls
  const client = createClient({ baseUrl: url })

  const sameEmail = await servers.each(60, (url, n) =>
    send('POST', `${url}/users`, { name: `Ada ${n}`, email: 'ada@example.com' }),
  )
  expect(statuses(sameEmail)).toEqual({ 201: 1, 409: 59 })

  const key = { 'Idempotency-Key': 'k' }
  const sameKey = await servers.each(60, (url) => send('POST', `${url}/items/`, { name: 'Lamp', price: 1 }, key))
  expect(statuses(sameKey)).toEqual({ 201: 60 })
  const bodies = await Promise.all(sameKey.map((answer) => answer.text()))
  expect(new Set(bodies).size).toBe(1)
  expect(await client.items.list.query({ count: true })).toMatchObject({ total: 1 })

  const { id } = JSON.parse(bodies[0] ?? '').item
  const writes = await servers.each(60, (url) =>
    send('PATCH', `${url}/items/${id}`, { price: 2 }, { 'If-Match': '"1-Item"' }),
  )
  expect(statuses(writes)).toEqual({ 200: 1, 412: 59 })
  expect(await client.items.get.query({ id })).toMatchObject({ price: 2, version: 2 })

  // Each price differs from the stored one; otherwise the write would be no change.
  const changes = await servers.each(60, (url, n) => send('PATCH', `${url}/items/${id}`, { price: 100 + n }))
  expect(statuses(changes)).toEqual({ 200: 60 })
  expect(await client.items.get.query({ id })).toMatchObject({ version: 62 })
})
