import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/database.ts'
import type { Item } from '../index.ts'
import { keysetRanges } from '../tables/keyset.ts'
import type { Statement } from '../tables/sql.ts'
import { sqlTables } from '../tables/tables.ts'
import type { Order, PageQuery, Where } from '../tables/types.ts'
import { SqliteConnection } from './connection.ts'
import { migrate } from './migrate.ts'

const ROWS = 12_000

/** Items with distinct and with equal prices, names and categories, through one connection with and one without background. */
async function largeTable() {
  const folder = await temporaryFolder()
  await migrate(folder.file)
  const database = new Sqlite(folder.file)
  database.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
    INSERT INTO items (name, name_key, price, category)
    SELECT iif(i % 3 = 0, 'Lamp', 'Item ' || i % 4000), 'item', i * 7 % 2000, iif(i % 11 = 0, NULL, 'c' || i % 5) FROM n`)
  database.close()
  const connection = new SqliteConnection(folder.file, { readonly: true })
  const inBackground: string[] = []
  const executor = {
    isRemote: false,
    all: (statement: Statement) => connection.all(statement),
    run: (statement: Statement) => connection.run(statement),
    raw: (statement: Statement) => connection.raw(statement),
    insert: () => expect.fail('a list inserts nothing'),
  }
  const background = {
    all: async (statement: Statement) => {
      inBackground.push(statement.text)
      return connection.all(statement)
    },
    raw: (statement: Statement) => connection.raw(statement),
  }
  return {
    items: sqlTables({ ...executor, background }).items,
    expected: sqlTables(executor).items,
    inBackground,
    [Symbol.asyncDispose]: async () => {
      connection.close()
      await folder[Symbol.asyncDispose]()
    },
  }
}

const filters: Where<Item>[] = [
  {},
  { category: 'c1' },
  { category: null },
  { category: { in: ['c1', 'c2'] } },
  { price: { lt: 2 } },
  { price: { gt: 5, lte: 1000 } },
  { category: 'c1', price: { lt: 40 } },
  { category: 'none', price: { gt: 5 } },
]
const orders = (['id', 'name', 'price', 'category'] as const).flatMap((column) =>
  [false, true].map((descending): Order<Item> => ({ column, descending })),
)

test('a page has the same records whether it is read in the background or not', async () => {
  await using table = await largeTable()
  for (const where of filters) {
    for (const order of orders) {
      for (const skip of [0, 150]) {
        const query: PageQuery<Item> = { where, order, skip, take: 101 }
        const expected = await table.expected.page(query)
        const pages = [await table.items.page(query), await table.items.page(query)]
        expect(pages, JSON.stringify(query)).toEqual([expected, expected])
        const last = expected[99]
        if (last === undefined) continue
        const key = last[order.column]
        const kind = table.items.columns[order.column]
        const seek = keysetRanges<Item>(where, order, kind, { key, id: last.id })
        const next = await table.items.page({ where, order, seek, take: 101 })
        expect(next, `after the first page: ${JSON.stringify(query)}`).toEqual(
          await table.expected.page({ where, order, seek, take: 101 }),
        )
      }
    }
  }
})

test.each<[runs: string, where: Where<Item>, column: Order<Item>['column'], descending: boolean]>([
  ['in the event loop', {}, 'price', false],
  ['in the event loop', {}, 'price', true],
  ['in the event loop', { category: 'c1' }, 'price', false],
  ['in the event loop', { price: { lt: 40 } }, 'price', false],
  ['in the background', {}, 'name', true],
  ['in the background', { price: { lt: 2 } }, 'category', true],
  ['in the background', { price: { lt: 2 } }, 'id', false],
  ['in the background', { category: 'c1' }, 'name', false],
  ['in the background', { category: 'c1', price: { lt: 40 } }, 'name', true],
])('a list runs %s: %j, sorted by %s, descending %j', async (runs, where, column, descending) => {
  await using table = await largeTable()
  await table.items.page({ where, order: { column, descending }, take: 101 })
  // Sorted by name, 4,000 lamps with the same name are the last rows of the page.
  if (column === 'name' && descending)
    await table.items.page({ where, order: { column, descending }, skip: 1, take: 101 })
  expect(table.inBackground.length > 0 ? 'in the background' : 'in the event loop').toBe(runs)
})

test('the ids of a preview are read in the background', async () => {
  await using table = await largeTable()
  const found = await table.items.lock({ price: { lt: 2 } }, 20_001)
  expect(found).toHaveLength(12)
  expect(table.inBackground).toHaveLength(1)
})
