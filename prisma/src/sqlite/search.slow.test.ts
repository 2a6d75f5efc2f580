import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { temporaryDatabase } from '../../test/database.ts'
import { type Item, keysetRanges, type Where } from '../index.ts'
import type { Order } from '../tables/types.ts'

const ROWS = 30_000
const COLORS = ['red', 'green', 'blue']

/** Every row has the word "item", two of three rows "lamp", each tenth "oak". */
const nameOf = (id: number) =>
  `item ${COLORS[id % 3]} ${id % 3 === 0 ? 'rug' : 'lamp'}${id % 10 === 0 ? ' oak' : ''} ${(id * 7919) % ROWS}`

const rows = Array.from({ length: ROWS }, (_, n) => n + 1).map((id) => ({
  id,
  name: nameOf(id),
  price: id % 97,
  category: id % 4 === 0 ? null : `c${Math.floor(id / 10_000)}`,
}))

// Many rows, so that words are rare, frequent and in between: each kind is searched in a different way.
test('a search of many rows returns the same page for rare and for frequent words', async () => {
  await using database = await temporaryDatabase()
  const sqlite = new Sqlite(database.file)
  const insert = sqlite.prepare('INSERT INTO items (name, name_key, price, category, version) VALUES (?, ?, ?, ?, 1)')
  sqlite.transaction(() => {
    for (const { name, price, category } of rows) insert.run(name, name, price, category)
  })()
  sqlite.close()
  const { items } = database.read
  const orders: Order<Item>[] = [
    { column: 'id', descending: true },
    { column: 'name', descending: false },
    { column: 'price', descending: true },
    { column: 'category', descending: false },
    { column: 'category', descending: true },
  ]
  const filters: [Where<Item>, (row: (typeof rows)[number]) => boolean][] = [
    [{}, () => true],
    [{ category: 'c2' }, ({ category }) => category === 'c2'],
    [{ price: { gte: 5 } }, ({ price }) => price >= 5],
    [{ price: { gt: 95 }, category: null }, ({ price, category }) => price > 95 && category === null],
  ]
  for (const words of [['item'], ['lamp'], ['oak', 'lamp'], ['oak', 'rug', '12'], ['im'], ['nothing']]) {
    for (const [filter, isMatch] of filters) {
      const where: Where<Item> = { ...filter, name_key: { contains: { words } } }
      const matches = rows.filter((row) => isMatch(row) && words.every((word) => has(row.name, word)))
      for (const order of orders) {
        const expected = matches.toSorted(comparison(order)).map(({ id }) => id)
        for (const skip of [0, 3_000]) {
          const what = JSON.stringify({ where, order, skip })
          const page = await items.page({ where, order, skip, take: 21 })
          expect([what, page.map(({ id }) => id)]).toEqual([what, expected.slice(skip, skip + 21)])
          const last = page.at(-1)
          if (last === undefined) continue
          const seek = keysetRanges<Item>(where, order, items.columns[order.column], {
            id: last.id,
            key: last[order.column],
          })
          const next = await items.page({ where, order, seek, take: 21 })
          expect([what, next.map(({ id }) => id)]).toEqual([what, expected.slice(skip + 21, skip + 42)])
        }
      }
      expect(await items.count(where)).toBe(matches.length)
    }
  }
})

function has(text: string, word: string): boolean {
  return word.length > 2 ? text.includes(word) : ` ${text}`.includes(` ${word}`)
}

function comparison({ column, descending }: Order<Item>) {
  return (a: (typeof rows)[number], b: (typeof rows)[number]) => {
    const [x, y] = [a[column as 'id'], b[column as 'id']]
    if (x === y) return a.id - b.id
    // Null is below every value.
    return ((x ?? '') < (y ?? '') ? -1 : 1) * (descending ? -1 : 1)
  }
}
