import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ContractError, createClient } from '@resource/client'
import { contract } from '@resource/client/contract'
import { createTestServer } from '@resource/server/testing'
import { expect, test } from 'vitest'

test('with `check`, valid responses pass unchanged', async () => {
  await using server = await createTestServer()
  const client = createClient({ baseUrl: server.url, check: contract })
  const user = await client.users.create.mutate({ name: 'Ada', email: 'ada@example.com' })
  const changes_cursor = expect.stringMatching(/^1-/)
  expect(await client.users.list.query({})).toEqual({ users: [user], page: 1, limit: 100, next: null, changes_cursor })
})

test('with `check`, a response that breaks the contract is an error that names the field; extra fields are allowed', async () => {
  const answers = [
    { id: 1, name: 'Lamp', price: 'dear', category: null, version: 1 },
    { id: 1, name: 'Lamp', price: 2, category: null, version: 1, colour: 'red' },
  ]
  const server = createServer((_req, res) => {
    res.setHeader('Content-Type', 'application/json').end(JSON.stringify([{ result: { data: answers.shift() } }]))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = createClient({ baseUrl, check: contract })

  const broken = await client.items.get.query({ id: 1 }).catch((error: unknown) => error)
  expect(broken).toBeInstanceOf(ContractError)
  expect(broken).toMatchObject({ name: 'ContractError', fields: [{ field: 'price' }] })
  expect((broken as Error).message).toContain('items.get: the response does not match the contract: price: ')
  expect(await client.items.get.query({ id: 1 })).toMatchObject({ colour: 'red' })
  server.closeAllConnections()
  server.close()
})

test('the service logs and counts requests with a different contract, and not those with its own', async () => {
  await using server = await createTestServer()
  const skews = () =>
    server.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'client built against a different contract')
  await createClient({ baseUrl: server.url }).items.list.query({})
  expect(skews()).toEqual([])

  const old = createClient({ baseUrl: server.url, headers: { 'X-Contract': '0123456789abcdef' } })
  for (let n = 0; n < 12; n++) await old.items.list.query({})
  expect(skews()).toMatchObject([
    { level: 40, contract: '0123456789abcdef', requests: 1 },
    { contract: '0123456789abcdef', requests: 10 },
  ])

  for (let n = 0; n < 150; n++) {
    await fetch(`${server.url}/trpc/items.list`, { headers: { 'X-Contract': n.toString(16).padStart(16, '0') } })
  }
  await fetch(`${server.url}/trpc/items.list`, { headers: { 'X-Contract': 'no hash' } })
  expect(new Set(skews().map((line) => line.contract)).size).toBe(101)
  expect(skews().at(-1)).toMatchObject({ contract: 'others', requests: 10 })
})
