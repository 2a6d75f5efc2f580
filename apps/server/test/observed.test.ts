import { expect, test } from 'vitest'
import { observeDatabase } from '../src/store/observed.ts'
import { startTestServer } from './harness.ts'
import { createUser, openDatabase } from './records.ts'

test('a database that is measured reads the columns asked for, and no others', async () => {
  await using server = await startTestServer()
  await createUser(server, { name: 'Ann' })
  await using database = await openDatabase(server)
  const { users } = observeDatabase(database, (_operation, _table, run) => run()).read

  const columns = ['id', 'name'] as const
  expect(await users.find({ id: 1 }, columns)).toEqual({ id: 1, name: 'Ann' })
  const order = { column: 'id', descending: false } as const
  expect(await users.page({ columns, where: {}, order, take: 10 })).toEqual([{ id: 1, name: 'Ann' }])
})
