import { createDatabase } from '@resource/database'
import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'
import { createUser } from './records.ts'

test('an instrumented database reads the requested columns and measures each query once', async () => {
  await using server = await startTestServer()
  await createUser(server, { name: 'Ann' })
  const seen: string[] = []
  const database = await createDatabase(server.databaseUrl, {
    around: (operation, table, run) => {
      seen.push(`${operation} ${table}`)
      return run()
    },
  })
  const { users, apiKeys } = database.read

  const columns = ['id', 'name'] as const
  expect(await users.find({ id: 1 }, columns)).toEqual({ id: 1, name: 'Ann' })
  const order = { column: 'id', descending: false } as const
  expect(await users.page({ columns, where: {}, order, take: 10 })).toEqual([{ id: 1, name: 'Ann' }])
  expect(await users.page({ where: {}, order, skip: 2500, take: 10 })).toEqual([])
  expect(await apiKeys.count({})).toBe(0)
  await database.write(async (tx) => {
    await tx.users.write([{ id: 1, change: { age: 36 } }])
    await tx.users.deleteAll({})
  })
  expect(seen).toEqual([
    'find users',
    'page users',
    'page users',
    'count api_keys',
    'transaction ',
    'update users',
    'deleteAll users',
  ])
  await database.close()
})
