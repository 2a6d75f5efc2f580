import { expect, test } from 'vitest'
import { SharedFinds } from './shared-finds.ts'
import { within } from './within.ts'

interface Row {
  id: number
  version: number
  name: string
}

/** Finds among three rows, and the ids of each read. */
function finds() {
  const reads: number[][] = []
  const rows = [1, 2, 3].map((id) => ({ id, version: 1, name: `n${id}` }))
  const shared = new SharedFinds<Row>(async (ids) => {
    reads.push(ids)
    if (ids.includes(13)) throw new Error('no connection')
    return rows.filter(({ id }) => ids.includes(id)).reverse()
  })
  return { reads, shared }
}

test('reads of one iteration of the event loop share a statement, and each gets its own row', async () => {
  const { reads, shared } = finds()
  const [first, none, second, again] = await Promise.all([1, 9, 2, 1].map((id) => shared.find(id, undefined)))
  expect([first, none, second, again]).toEqual([
    { id: 1, version: 1, name: 'n1' },
    undefined,
    { id: 2, version: 1, name: 'n2' },
    { id: 1, version: 1, name: 'n1' },
  ])
  expect(again).not.toBe(first)
  expect(await shared.find(3, undefined)).toEqual({ id: 3, version: 1, name: 'n3' })
  expect(reads).toEqual([[1, 9, 2, 1], [3]])
})

test('reads of other columns have a statement of their own, as has the hundred-and-first', async () => {
  const { reads, shared } = finds()
  const columns = ['id'] as const
  await Promise.all([shared.find(1, undefined), shared.find(2, columns), shared.find(3, columns)])
  await Promise.all(Array.from({ length: 101 }, () => shared.find(1, undefined)))
  expect(reads.map(({ length }) => length)).toEqual([1, 2, 100, 1])
})

test('the error of a statement is that of each of its reads', async () => {
  const { shared } = finds()
  const errors = await Promise.all([1, 13].map((id) => shared.find(id, undefined).catch(({ message }) => message)))
  expect(errors).toEqual(['no connection', 'no connection'])
  expect(await shared.find(1, undefined)).toEqual({ id: 1, version: 1, name: 'n1' })
})

test('a read by other conditions, within a scope, of an id beyond the type, or without the id is not shared', () => {
  const idOf = (where: object, columns?: (keyof Row)[]) => SharedFinds.idOf<Row>(where, columns)
  expect(idOf({ id: 7 })).toBe(7)
  expect(idOf({ id: 7 }, ['name', 'id'])).toBe(7)
  expect(idOf({ id: 7 }, ['name'])).toBe(undefined)
  expect(idOf({ id: 7, name: 'n' })).toBe(undefined)
  expect(idOf(within({ id: 7 }, { id: 8 }))).toBe(undefined)
  expect(idOf({ id: { in: [7] } })).toBe(undefined)
  expect(idOf({ id: 2_147_483_648 })).toBe(undefined)
  expect(idOf({ id: Number.NaN })).toBe(undefined)
})

test('while statements wait for connections, only reads of one caller share a statement', async () => {
  const reads: number[][] = []
  let caller = ''
  const shared = new SharedFinds<Row>(
    async (ids) => {
      reads.push(ids)
      return []
    },
    () => caller,
  )
  const find = (of: string, id: number) => {
    caller = of
    return shared.find(id, undefined)
  }
  await Promise.all([find('a', 1), find('b', 2), find('a', 3), find('b', 4)])
  expect(reads).toEqual([
    [1, 3],
    [2, 4],
  ])
})
