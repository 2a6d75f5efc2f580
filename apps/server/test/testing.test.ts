import { createClient, UnavailableError } from '@resource/client'
import { createTestServer } from '@resource/server/testing'
import { expect, test } from 'vitest'

async function outcomes(failSeed: number): Promise<string[]> {
  await using server = await createTestServer({ failRate: 0.5, failSeed })
  const seen: string[] = []
  for (let n = 0; n < 30; n++) {
    const outcome = await fetch(`${server.url}/items`).then(
      (response) => String(response.status),
      () => 'dropped',
    )
    seen.push(outcome)
  }
  return seen
}

test('it stores the seed records by the rules of the service', async () => {
  await using server = await createTestServer({
    seed: { users: [{ name: 'Ada', email: 'ada@example.com' }], items: [{ name: 'Lamp', price: 1 }] },
  })
  const client = createClient({ baseUrl: server.url })
  expect(await client.users.get.query({ id: 1 })).toMatchObject({ name: 'Ada', role: 'user' })
  await expect(createTestServer({ seed: { items: [{ name: '', price: 1 }] } })).rejects.toThrow('name')
})

test('the same seed fails the same requests, with 503s and dropped connections', async () => {
  const first = await outcomes(7)
  expect(new Set(first)).toEqual(new Set(['200', '503', 'dropped']))
  expect(await outcomes(7)).toEqual(first)
  expect(await outcomes(8)).not.toEqual(first)
})

test('writes through the client happen once, even if the first response is lost', async () => {
  await using server = await createTestServer({ failRate: 0.3, failSeed: 3 })
  const client = createClient({ baseUrl: server.url, retryForMs: 20_000, retriesPerSecond: 1000 })
  for (let n = 0; n < 40; n++) await client.items.create.mutate({ name: `Item ${n}`, price: n })
  const { total } = await client.items.list.query({ count: true })
  expect(total).toBe(40)
  const lost = server.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request aborted')
  expect(lost).toContainEqual(expect.objectContaining({ path: '/trpc/items.create', status: 200 }))
})

test('a service that always fails is unavailable, and a slow one delays a call', async () => {
  await using down = await createTestServer({ failRate: 1 })
  const client = createClient({ baseUrl: down.url, retryForMs: 0 })
  await expect(client.items.list.query({})).rejects.toBeInstanceOf(UnavailableError)

  await using slow = await createTestServer({ latency: 150 })
  const started = performance.now()
  await createClient({ baseUrl: slow.url }).items.list.query({})
  expect(performance.now() - started).toBeGreaterThanOrEqual(149)
})
