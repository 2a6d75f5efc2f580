import { createDatabase } from '@resource/database'
import { expect, test } from 'vitest'
import { ANONYMOUS } from '../src/access/caller.ts'
import { createOperations } from '../src/operations.ts'
import { readConfig } from '../src/process/config.ts'
import { startTestServer } from './harness.ts'

test('the caller of a query pays for its long reads, and for no others', async () => {
  await using server = await startTestServer()
  const database = await createDatabase(server.databaseUrl)
  const paid: object[] = []
  const context = { caller: ANONYMOUS, read: database.read, spend: (work: object) => void paid.push(work) }
  const operations = createOperations(database, readConfig({}), { needsCredentials: () => false })
  const list = (page: number) =>
    operations.find(({ name }) => name === 'items.list')?.call({ page, limit: 100, count: false }, context)
  await list(1)
  expect(paid).toEqual([])
  await list(30)
  expect(paid).toEqual([{ readMs: expect.any(Number) }])
  await database.close()
})
