import { describe, expect, test } from 'vitest'
import { engines } from '../../scripts/models.ts'
import { newUser } from '../../test/database.ts'
import { openDatabase } from '../../test/everywhere.ts'
import { insertMany } from '../../test/rows.ts'

describe.each(engines)('on %s', (engine) => {
  async function withItems(...items: [category: string | null, price: number][]) {
    const database = await openDatabase(engine)
    const rows = items.map(([category, price]) => ({ name: 'Lamp', name_key: 'lamp', category, price }))
    await database.write((tx) => insertMany(tx.items, rows))
    return database
  }

  test('groups are sorted by size, then by value: null first, text by code point', async () => {
    await using database = await withItems(['é', 1], ['b', 2], ['b', 3.5], [null, 4], ['Z', 5], ['a', 6], ['😀', 7])
    const { items } = database.read
    const summaries = await items.summarize({ where: {}, by: 'category', of: 'price', limit: 10 })
    expect(summaries).toEqual([
      { value: 'b', count: 2, minimum: 2, mean: 2.75, maximum: 3.5 },
      { value: null, count: 1, minimum: 4, mean: 4, maximum: 4 },
      { value: 'Z', count: 1, minimum: 5, mean: 5, maximum: 5 },
      { value: 'a', count: 1, minimum: 6, mean: 6, maximum: 6 },
      { value: 'é', count: 1, minimum: 1, mean: 1, maximum: 1 },
      { value: '😀', count: 1, minimum: 7, mean: 7, maximum: 7 },
    ])
    const largest = await items.summarize({ where: { price: { gt: 2 } }, by: 'category', limit: 2 })
    expect(largest).toEqual([
      { value: null, count: 1, minimum: null, mean: null, maximum: null },
      { value: 'Z', count: 1, minimum: null, mean: null, maximum: null },
    ])
  })

  test('without a grouping there is one summary, also of no rows', async () => {
    await using database = await withItems(['a', 1], ['b', 2])
    const { items } = database.read
    const all = { value: null, count: 2, minimum: 1, mean: 1.5, maximum: 2 }
    expect(await items.summarize({ where: {}, of: 'price', limit: 100 })).toEqual([all])
    const none = { value: null, count: 0, minimum: null, mean: null, maximum: null }
    expect(await items.summarize({ where: { price: 3 }, of: 'price', limit: 100 })).toEqual([none])
    expect(await items.summarize({ where: { price: 3 }, by: 'category', of: 'price', limit: 100 })).toEqual([])
  })

  test('nulls are not summarized, and dates are dates', async () => {
    await using database = await openDatabase(engine)
    const ages = [null, 30, null, 31]
    await database.write((tx) =>
      insertMany(
        tx.users,
        ages.map((age, n) => ({ ...newUser(`user${n}`), age, role: n < 3 ? 'user' : 'admin' })),
      ),
    )
    const { users } = database.read
    expect(await users.summarize({ where: {}, by: 'role', of: 'age', limit: 9 })).toEqual([
      { value: 'user', count: 3, minimum: 30, mean: 30, maximum: 30 },
      { value: 'admin', count: 1, minimum: 31, mean: 31, maximum: 31 },
    ])
    expect(await users.summarize({ where: { age: null }, by: 'created_at', of: 'age', limit: 9 })).toEqual([
      { value: new Date('2026-01-02T03:04:05.678Z'), count: 2, minimum: null, mean: null, maximum: null },
    ])
  })

  test('of a prefix and of a search have the matching rows only', async () => {
    await using database = await withItems(['lamps', 1], ['Lamps', 2], ['lam', 3], ['lan', 4], ['la%', 5], [null, 6])
    const { items } = database.read
    const valuesOf = async (startsWith: string) =>
      (await items.summarize({ where: { category: { startsWith } }, by: 'category', limit: 9 })).map(
        ({ value }) => value,
      )
    expect(await valuesOf('lam')).toEqual(['lam', 'lamps'])
    expect(await valuesOf('la%')).toEqual(['la%'])
    expect(await valuesOf('')).toEqual(['Lamps', 'la%', 'lam', 'lamps', 'lan'])
    expect(await valuesOf('\u{10ffff}')).toEqual([])
    const searched = { name_key: { contains: { words: ['amp'] } }, price: { lt: 3 } }
    expect(await items.summarize({ where: searched, limit: 9 })).toMatchObject([{ count: 2 }])
    const [{ count } = { count: 0 }] = await items.summarize({
      where: { name_key: { contains: { words: ['amq'] } } },
      limit: 9,
    })
    expect(count).toBe(0)
  })
})
