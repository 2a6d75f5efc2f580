import { expect, test } from 'vitest'
import type { Executor } from './executor.ts'
import { readOnly, singleWriteOnly, withDeadline } from './guarded.ts'

function recording() {
  const sent: string[] = []
  const send =
    <T>(answer: T) =>
    ({ text }: { text: string }) => {
      sent.push(text)
      return answer
    }
  const executor: Executor = {
    isRemote: true,
    all: send([]),
    run: send(0),
    raw: send({ columns: [], rows: [], count: 0 }),
    insert: send([]),
  }
  return { executor, sent }
}

const statement = (text: string) => ({ text, values: [] })

test('an autocommit write locks rows or writes, but not both', () => {
  const { executor, sent } = recording()
  const once = singleWriteOnly(executor)
  once.all(statement('SELECT "id" FROM "books"'))
  once.all(statement('SELECT "id" FROM "books" LIMIT ? FOR UPDATE'))
  const write = statement('DELETE FROM "books"')
  expect(() => once.run(write)).toThrow('An autocommit write cannot write twice.')
  expect(() => once.all(write)).toThrow('An autocommit write cannot write twice.')
  expect(sent).toEqual(['SELECT "id" FROM "books"', 'SELECT "id" FROM "books" LIMIT ? FOR UPDATE'])
})

test('a read-only executor rejects writes and locks before anything is sent', () => {
  const { executor, sent } = recording()
  const reader = readOnly(executor)
  const insertion = { text: 'INSERT', table: 'books', columns: [], hasId: true, unique: [] }
  const refusal = 'Database.read is a readonly database connection'
  expect(() => reader.run(statement('DELETE FROM "books"'))).toThrow(refusal)
  expect(() => reader.all(statement('WITH "stored" AS (SELECT 1) UPDATE "books"'))).toThrow(refusal)
  expect(() => reader.all(statement('SELECT "id" FROM "books" LIMIT ? FOR UPDATE'))).toThrow(refusal)
  expect(() => reader.insert(insertion, [[]], 0)).toThrow(refusal)
  reader.all(statement('SELECT 1'))
  expect(sent).toEqual(['SELECT 1'])
})

test('a transaction sends nothing after its end', async () => {
  const { executor, sent } = recording()
  const ended = await withDeadline(executor, 1_000, async (transaction) => {
    transaction.run(statement('DELETE FROM "books"'))
    return transaction
  })
  expect(() => ended.run(statement('DELETE FROM "books"'))).toThrow('has ended')
  expect(() => ended.all(statement('SELECT 1'))).toThrow('has ended')
  expect(sent).toEqual(['DELETE FROM "books"'])
})
