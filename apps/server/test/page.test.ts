import { expect, test } from 'vitest'
import { readPage } from '../src/store/page.ts'

test('a list sorted by a boolean continues after its cursor and rejects a cursor with a value of another type', async () => {
  const ranges: unknown[] = []
  const table = {
    columns: { id: 'int', paid: 'bool' },
    page: async ({ seek }: { seek?: unknown }) => {
      ranges.push(seek)
      return [1, 2].map((id) => ({ id, paid: false }))
    },
  }
  const read = (after: string) =>
    readPage(table as never, {}, { paid: 'paid' } as never, { limit: 1, sort: 'paid_asc', after, count: false })

  const { facts } = await read('')
  await read(facts.next ?? '')
  expect(ranges).toEqual([undefined, [{ paid: false, id: { gt: 1 } }, { paid: { gt: false } }]])
  const wrong = Buffer.from('["paid_asc",0,1]').toString('base64url')
  await expect(read(wrong)).rejects.toThrow('after: must be the cursor of a next link')
})

test('a search without an index says how many records it covered', async () => {
  const table = { columns: { id: 'int' }, searchLimit: 100_000, page: async () => [] }
  const read = async (where: object) =>
    (await readPage(table as never, where, { id: 'id' } as never, { limit: 1, count: false })).facts
  expect(await read({ id: { contains: { words: ['ada'] } } })).toEqual({
    page: 1,
    limit: 1,
    next: null,
    searched: 100_000,
  })
  expect(await read({ id: { gt: 1 } })).toEqual({ page: 1, limit: 1, next: null })
})
