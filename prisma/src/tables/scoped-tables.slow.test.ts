import { describe, expect, test } from 'vitest'
import { engines } from '../../scripts/models.ts'
import { generatedLibrary, openLibrary } from '../../test/library.ts'
import { type Item, OutsideScope, ReferenceViolation } from '../index.ts'
import { declarations } from './declarations.ts'
import { type ScopeFilter, scopeOf } from './scope.ts'
import { scopedTablesOf } from './scoped-tables.ts'
import { SqlText } from './statements.ts'
import { within } from './within.ts'

const byId = { column: 'id', descending: false } as const
const author = (name: string, active: boolean) => ({ create: { name, active } })
const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error) => error,
  )

/** A library in which only active authors, and the chapters of the first book, exist for some. */
async function openScoped(engine: (typeof engines)[number]) {
  const { declarations } = await generatedLibrary()
  const library = await openLibrary(engine)
  await library.write(async ({ authors, books, chapters }) => {
    await authors.write([author('Ann', true), author('Bob', false), author('Cid', true), author('Dan', false)])
    await books.write([
      { create: { title: 'One', author_id: 1 } },
      { create: { title: 'Two', author_id: 3 } },
      { create: { title: 'Three', author_id: 2 } },
    ])
    await chapters.write([{ create: { book_id: 1 } }, { create: { book_id: 2 } }, { create: { book_id: 1 } }])
  })
  const scopes = new Map([
    ['authors', scopeOf([{ active: true }], declarations.authors.columns)],
    ['chapters', scopeOf([{ book_id: 1 }], declarations.chapters.columns)],
  ])
  const scoped = scopedTablesOf(declarations)
  return {
    all: library.read,
    read: scoped(library.read, scopes),
    write: <T>(work: (tx: typeof library.read) => Promise<T>) => library.write((tx) => work(scoped(tx, scopes))),
    [Symbol.asyncDispose]: () => library[Symbol.asyncDispose](),
  }
}

describe.each(engines)('the tables of a caller for whom some rows exist, on %s', (engine) => {
  test('find, list, count, summarize and lock these rows only, whatever the conditions say', async () => {
    await using library = await openScoped(engine)
    const { authors } = library.read
    const all = { order: byId, take: 10 }
    const seen = {
      find: [await authors.find({ id: 1 }), await authors.find({ id: 2 }), await authors.find({ name: 'Bob' })],
      page: await authors.page({ ...all, where: {}, columns: ['id'] }),
      contrary: await authors.page({ ...all, where: { active: false }, columns: ['id'] }),
      overridden: await authors.page({ ...all, where: { active: undefined, id: { lt: 3 } }, columns: ['id'] }),
      seek: await authors.page({
        ...all,
        where: {},
        seek: [{ name: 'Ann', id: { gt: 1 } }, { name: { gt: 'Ann' } }],
        columns: ['id', 'name'],
        order: { column: 'name', descending: false },
      }),
      count: [await authors.count({}), await authors.count({ active: false }), await authors.count({ name: 'Bob' })],
      summarize: await authors.summarize({ where: {}, by: 'active', limit: 10 }),
      lock: await library.write((tx) => tx.authors.lock({}, 10)),
    }
    expect(seen).toEqual({
      find: [expect.objectContaining({ name: 'Ann' }), undefined, undefined],
      page: [{ id: 1 }, { id: 3 }],
      contrary: [],
      overridden: [{ id: 1 }],
      seek: [{ id: 3, name: 'Cid' }],
      count: [2, 0, 0],
      summarize: [{ value: true, count: 2, minimum: null, mean: null, maximum: null }],
      lock: [
        { id: 1, version: 1 },
        { id: 3, version: 1 },
      ],
    })
  })

  test('a scope of one id, or of none: no other is found, alone and among others', async () => {
    await using library = await openScoped(engine)
    const { declarations } = await generatedLibrary()
    const within = (filter: ScopeFilter<object>) =>
      scopedTablesOf(declarations)(library.all, new Map([['books', scopeOf([filter], declarations.books.columns)]]))
    const { books } = within({ id: 1 } as object)
    const columns = ['id', 'title'] as const
    const found = await Promise.all([2, 1, 3].map((id) => books.find({ id }, columns)))
    expect(found).toEqual([undefined, { id: 1, title: 'One' }, undefined])
    expect(await books.find({ id: 2 })).toBe(undefined)
    expect(await within('nothing').books.find({ id: 1 })).toBe(undefined)
  })

  test('changes and deletes of other rows find none, alone and among others', async () => {
    await using library = await openScoped(engine)
    const written = await library.write(({ authors }) =>
      authors.write([
        { id: 2, change: { rating: 1 } },
        { id: 1, change: { rating: 2 } },
        { id: 4, versions: [9], delete: true },
        { id: 3, versions: [9], change: { rating: 3 } },
      ]),
    )
    expect(written.map((row) => row && 'after' in row && row.after.rating)).toEqual([
      undefined,
      2,
      undefined,
      undefined,
    ])
    expect(await library.write(({ authors }) => authors.write([{ id: 4, delete: true }]))).toEqual([undefined])
    const stored = await library.all.authors.page({ where: {}, order: byId, take: 9, columns: ['id', 'rating'] })
    expect(stored.map(({ id, rating }) => [id, rating])).toEqual([
      [1, 2],
      [2, null],
      [3, null],
      [4, null],
    ])
  })

  test('no write results in a row outside', async () => {
    await using library = await openScoped(engine)
    const { write, all } = library
    for (const [rows, index] of [
      [[author('Eve', true), author('Fay', false)], 1],
      [[{ id: 1, change: { active: false } }], 0],
      [
        [
          { id: 2, change: { rating: 1 } },
          { id: 3, change: { active: false } },
        ],
        1,
      ],
    ] as const) {
      const error = await errorOf(write(({ authors }) => authors.write([...rows])))
      expect(error).toBeInstanceOf(OutsideScope)
      expect([error.columns, error.index]).toEqual([['active'], index])
    }
    expect(await all.authors.count({})).toBe(4)
    expect(await all.authors.count({ active: true })).toBe(2)
  })

  test('a reference to a row outside fails as one to a row that does not exist, and one that stays is kept', async () => {
    await using library = await openScoped(engine)
    const missing = async (author_id: number) => {
      const create = { title: 'Four', author_id }
      const first = { create: { title: 'Five', author_id: 1 } }
      const errors = [
        await errorOf(library.write(({ books }) => books.write([{ create }]))),
        await errorOf(library.write(({ books }) => books.write([first, { create }]))),
        await errorOf(library.write(({ books }) => books.write([{ id: 1, change: { author_id } }]))),
      ]
      return errors.map((error) => [error instanceof ReferenceViolation, error.columns, error.index])
    }
    const refused = [
      [true, ['author_id'], 0],
      [true, ['author_id'], 1],
      [true, ['author_id'], 0],
    ]
    expect([await missing(2), await missing(99)]).toEqual([refused, refused])
    const [kept] = await library.write(({ books }) => books.write([{ id: 3, change: { title: '3', author_id: 2 } }]))
    expect(kept?.after).toEqual({ id: 3, title: '3', author_id: 2, editor_id: null, version: 2 })
  })

  test('a deletion that would cascade to a row outside is refused, as one of a row that others refer to', async () => {
    await using library = await openScoped(engine)
    const remove = (id: number) => errorOf(library.write(({ books }) => books.write([{ id, delete: true }])))
    expect((await remove(2)).referring).toEqual({ table: 'chapters', column: 'book_id' })
    expect(await remove(1)).toBeUndefined()
    expect(await library.all.chapters.page({ where: {}, order: byId, take: 9, columns: ['id'] })).toEqual([{ id: 2 }])
  })
})

test('a search without an index looks among the first rows of the scope, not of all', () => {
  const where = within<Item>({ name_key: { contains: { words: ['lamp'] } } }, { category: 'ada' })
  const { text, values } = new SqlText(declarations.items, true, []).pageInWindow(
    { where, order: byId, take: 5 },
    {},
    100,
  )
  expect(text).toContain('FROM (SELECT * FROM "items" WHERE "category" = ? ORDER BY "id" ASC LIMIT ?) AS "window"')
  expect(values.slice(0, 2)).toEqual(['ada', 100])
})

describe('a scope', () => {
  const columns = { id: 'int', version: 'int', name: 'text?', age: 'int?', at: 'date', paid: 'bool' } as const
  const record = { id: 1, version: 1, name: 'Ann', age: 7, at: '2026-01-02T00:00:00.000Z', paid: true }
  const isInside = (filter: ScopeFilter<Record<string, unknown>>, changed: object = {}) =>
    scopeOf([filter], columns).outside({ ...record, ...changed }) === undefined

  test('has the records that fulfill all conditions, as rows and as their JSON', () => {
    expect(isInside({ name: 'Ann', age: { gte: 7, lt: 8 }, paid: true })).toBe(true)
    expect(isInside({ name: 'Ann', age: { gt: 7 } })).toBe(false)
    expect(isInside({ at: '2026-01-02T00:00:00Z' }, { at: new Date(record.at) })).toBe(true)
    expect(isInside({ at: { lte: '2026-01-01T23:59:59.999Z' } })).toBe(false)
    expect([isInside({ name: null }), isInside({ name: null }, { name: null })]).toEqual([false, true])
    expect([isInside({ name: { not: null } }), isInside({ name: { in: ['Bob', 'Ann'] } })]).toEqual([true, true])
    // By code point, as in statements: not by the units of UTF-16.
    expect(isInside({ name: { lt: '\u{1f600}' } }, { name: '\uffff' })).toBe(true)
  })

  test('has nothing if the value that decides is missing, or the column cannot store it', () => {
    const { where } = scopeOf(['nothing'], columns)
    for (const filter of [
      { name: undefined },
      { age: Number('x') },
      { age: 2 ** 31 },
      { age: '7' },
      { name: 'a\0' },
      { name: { in: [] } },
      { name: { lt: undefined } },
      { name: {} },
      { at: 'yesterday' },
      { at: undefined, name: 'Ann' },
    ] as ScopeFilter<Record<string, unknown>>[]) {
      expect(isInside(filter), JSON.stringify(filter)).toBe(false)
      const scope = scopeOf([filter], columns)
      expect([scope.where, scope.filters]).toEqual([where, ['nothing']])
    }
    expect(where).toEqual({ id: { in: [] } })
  })

  test('names a column', () => {
    expect(() => scopeOf([{ owner: 'Ann' }], columns)).toThrow('A scope names owner, which is no column')
  })
})
