import { createDatabase } from '@resource/database'
import { expect, test } from 'vitest'
import { createOperations } from '../src/operations.ts'
import { readConfig } from '../src/process/config.ts'
import { startTestServer } from './harness.ts'

test('callers take turns, however many writes of one wait', async () => {
  await using server = await startTestServer()
  // One write at a time on PostgreSQL, as on SQLite.
  const database = await createDatabase(server.databaseUrl, { poolSize: 2 })
  const operations = createOperations(database, readConfig({}), { needsCredentials: () => false })
  const createItem = operations.find(({ name }) => name === 'items.create')
  const create = (caller: string, name: string) => {
    const context = { caller: { name: caller, role: 'writer' }, requestId: name, read: database.read } as const
    return createItem?.call({ name, price: 1 }, context)
  }
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const first = database.write(() => {
    begun.resolve()
    return gate.promise
  })
  await begun.promise
  const writes = [create('a', 'a1'), create('a', 'a2'), create('a', 'a3'), create('b', 'b1')]
  // All of them wait in the queue once their input is validated, which reads nothing.
  await new Promise((resolve) => setTimeout(resolve, 0))
  gate.resolve()
  await Promise.all([first, ...writes])
  const order = { column: 'id', descending: false } as const
  const stored = await database.read.items.page({ where: { name: { in: ['a1', 'a2', 'a3', 'b1'] } }, order, take: 4 })
  expect(stored.map(({ name }) => name)).toEqual(['a1', 'b1', 'a2', 'a3'])
  await database.close()
})
