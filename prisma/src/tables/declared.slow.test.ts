import { describe, expect, test } from 'vitest'
import { engines } from '../../scripts/models.ts'
import { temporaryFolder } from '../../test/database.ts'
import { type Author, generatedLibrary, openLibrary } from '../../test/library.ts'
import { explainedTables } from '../../test/plans.ts'
import { emptyDatabase } from '../../test/postgres.ts'
import { barrier, insertMany, insertOne, remove, removeMany, update } from '../../test/rows.ts'
import { createDatabase, ReferenceViolation } from '../index.ts'
import { openPrisma } from '../prisma.ts'
import { keysetRanges } from './keyset.ts'
import type { NewRow, Where } from './types.ts'

// Tests the tables with models that use features the service's own models do not.

const byId = { column: 'id', descending: false } as const

test('a model is sufficient to declare its table', async () => {
  const { declarations } = await generatedLibrary()
  expect(declarations.authors).toEqual({
    name: 'authors',
    key: ['id'],
    unique: ['name', 'email'],
    columns: {
      id: 'int',
      name: 'text',
      email: 'text?',
      active: 'bool',
      retired: 'bool?',
      rating: 'float?',
      born: 'date?',
      version: 'int',
    },
    search: [],
    references: {},
    indexed: ['id', 'name', 'email', 'active'],
  })
  expect(declarations.books).toMatchObject({
    columns: { id: 'int', title: 'text', author_id: 'int', editor_id: 'int?', version: 'int' },
    references: {
      author_id: { table: 'authors', onDelete: 'Restrict' },
      editor_id: { table: 'authors', onDelete: 'Restrict' },
    },
  })
  expect(declarations.notes.references).toEqual({
    chapter_id: { table: 'chapters', onDelete: 'Restrict' },
    reply_to_id: { table: 'notes', onDelete: 'Cascade' },
  })
})

test.each(engines)(
  'a list of values of any length is looked up in an index by one statement, on %s',
  async (engine) => {
    const url = engine === 'sqlite' ? undefined : (await emptyDatabase()).url
    await using folder = await temporaryFolder()
    const database = await createDatabase(url ?? `file:${folder.file}`)
    await database.close()
    const { read, plans, close } = explainedTables(url ?? `file:${folder.file}`)
    for (const roles of [['admin'], ['admin', 'user', 'guest'], []]) {
      await read.users.page({ where: { role: { in: roles } }, order: { column: 'role', descending: false }, take: 10 })
    }
    await close()
    expect(plans.map(({ searchesIndex }) => searchesIndex)).toEqual([true, true, true])
    expect(new Set(plans.map(({ sql }) => sql)).size).toBe(1)
  },
)

test('PostgreSQL does not plan again each time for two authors that are read together', async () => {
  await using library = await openLibrary('postgresql')
  await library.write((tx) =>
    insertMany(
      tx.authors,
      Array.from({ length: 2_000 }, (_, n) => ({ name: `author${n}`, active: true })),
    ),
  )
  await library.reads.all({ text: 'ANALYZE "authors"', values: [] })
  const columns = ['id', 'name'] as const
  for (let id = 1; id < 10; id++) {
    const pair = [id, id + 100].map((id) => library.read.authors.find({ id }, columns))
    expect(await Promise.all(pair)).toEqual([id, id + 100].map((id) => ({ id, name: `author${id - 1}` })))
  }
  // The pool has opened one connection: never more than one statement ran at a time.
  const text = `SELECT custom_plans::int, generic_plans::int FROM pg_prepared_statements WHERE statement LIKE ?`
  expect(await library.reads.all({ text, values: ['%FROM "authors"%ANY%'] })).toEqual([
    { custom_plans: 5, generic_plans: 4 },
  ])
})

test('deletes that cascade to the same rows in different ways do not deadlock', async () => {
  await using library = await openLibrary('postgresql')
  const ids = [1, 2, 3, 4, 5, 6, 7, 8]
  await library.write(async (tx) => {
    const author = await insertOne(tx.authors, { name: 'Ada', active: true } as NewRow<Author>)
    await insertMany(
      tx.books,
      ids.map((id) => ({ title: `${id}`, author_id: author.id, editor_id: null })),
    )
    await insertMany(
      tx.chapters,
      ids.map((book_id) => ({ book_id })),
    )
    // Each page belongs to one book directly, and to the next one by its chapter.
    for (const id of ids)
      await insertMany(
        tx.pages,
        ids.map(() => ({ book_id: id, chapter_id: (id % ids.length) + 1 })),
      )
  })
  const shared = { actor: 'local', actor_detail: null, procedure: 'books.delete', request_id: null, address: null }
  // Opens the connections, so that the deletions run at the same time.
  await Promise.all(ids.map(() => library.read.books.count({})))
  const removed = ids.map((id) => library.write((tx) => remove(tx.books, id, undefined), { shared, tables: {} }))
  expect(await Promise.all(removed)).toMatchObject(ids.map((id) => ({ id })))
  expect(await library.read.pages.count({})).toBe(0)
})

test('writes that create records and then change the one that these refer to do not deadlock', async () => {
  await using library = await openLibrary('postgresql')
  const ids = [1, 2, 3, 4]
  await library.write((tx) => insertOne(tx.authors, { name: 'Ada', active: true } as NewRow<Author>))
  const met = barrier(ids.length)
  const adding = ids.map((id) =>
    library.write(async ({ authors, books }) => {
      await insertOne(books, { title: `${id}`, author_id: 1, editor_id: null })
      await met()
      await authors.lock({ id: 1 }, 1)
      await update(authors, 1, undefined, { rating: await books.count({ author_id: 1 }) })
    }),
  )
  await Promise.all(adding)
  expect(await library.read.authors.find({ id: 1 })).toMatchObject({ rating: 4, version: 5 })
})

describe.each(engines)('on %s', (engine) => {
  async function withAuthors(...authors: Partial<NewRow<Author>>[]) {
    const library = await openLibrary(engine)
    await library.write((tx) =>
      insertMany(
        tx.authors,
        authors.map((author, n) => ({ name: `author${n}`, active: true, ...author })),
      ),
    )
    return library
  }

  describe('booleans', () => {
    test('are returned as stored, including null', async () => {
      await using library = await openLibrary(engine)
      const row = await library.write((tx) => insertOne(tx.authors, { name: 'ada', active: false, retired: true }))
      const ada = {
        id: 1,
        name: 'ada',
        email: null,
        active: false,
        retired: true,
        rating: null,
        born: null,
        version: 1,
      }
      expect(row).toEqual(ada)
      expect(await library.read.authors.find({ id: 1 })).toEqual(ada)
      expect(await library.read.authors.find({ id: 1 }, ['active'])).toEqual({ active: false })
      await library.write((tx) =>
        insertMany(tx.authors, [
          { name: 'bob', active: true, rating: 4.5 },
          { name: 'cid', active: true, retired: false },
        ]),
      )
      const columns = ['active', 'retired', 'rating'] as const
      expect(await library.read.authors.page({ where: {}, columns, order: byId, take: 9 })).toEqual([
        { active: false, retired: true, rating: null },
        { active: true, retired: null, rating: 4.5 },
        { active: true, retired: false, rating: null },
      ])
    })

    test('are changed, and kept where they are equal', async () => {
      await using library = await withAuthors({ retired: false })
      const change = await library.write((tx) => update(tx.authors, 1, undefined, { active: false, retired: null }))
      expect(change?.before).toMatchObject({ active: true, retired: false, version: 1 })
      expect(change?.after).toMatchObject({ active: false, retired: null, version: 2 })
      const same = await library.write((tx) => update(tx.authors, 1, [2], { active: false, retired: null }))
      expect(same?.after).toMatchObject({ active: false, retired: null, version: 2 })
      expect(await library.write((tx) => remove(tx.authors, 1, [2]))).toMatchObject({ active: false, retired: null })
    })

    test.each<[string, Where<Author>, number[]]>([
      ['true', { active: true }, [1, 4]],
      ['false', { active: false }, [2, 3]],
      ['null', { retired: null }, [1, 2]],
      ['not null', { retired: { not: null } }, [3, 4]],
      ['above false', { retired: { gt: false } }, [4]],
      ['below true', { retired: { lt: true } }, [3]],
      ['at or above false', { active: { gte: false } }, [1, 2, 3, 4]],
      ['above true', { active: { gt: true } }, []],
    ])('are filtered by: %s', async (_, where, ids) => {
      await using library = await withAuthors(
        { active: true },
        { active: false },
        { active: false, retired: false },
        { active: true, retired: true },
      )
      const page = await library.read.authors.page({ where, order: byId, take: 10 })
      expect(page.map(({ id }) => id)).toEqual(ids)
      expect(await library.read.authors.count(where)).toBe(ids.length)
    })

    test.each([
      [false, [1, 5, 2, 4, 3]],
      [true, [3, 2, 4, 1, 5]],
    ])('are sorted, null lowest, and read on from any cursor (descending: %s)', async (descending, ids) => {
      await using library = await withAuthors(...[null, false, true, false, null].map((retired) => ({ retired })))
      const order = { column: 'retired', descending } as const
      const rows = await library.read.authors.page({ where: {}, order, take: 10 })
      expect(rows.map(({ id }) => id)).toEqual(ids)
      for (const [index, { id, retired }] of rows.entries()) {
        const seek = keysetRanges<Author>({}, order, 'bool?', { id, key: retired })
        const rest = await library.read.authors.page({ where: {}, seek, order, take: 10 })
        expect(rest.map(({ id }) => id)).toEqual(ids.slice(index + 1))
      }
    })
  })

  describe('several values', () => {
    const born = (year: number) => new Date(Date.UTC(year, 0, 2, 3, 4, 5, 678))
    const withFive = () =>
      withAuthors(
        { name: 'a', rating: 0.1 + 0.2, born: born(1815), retired: null },
        { name: 'b"\\,}\'', rating: 4, born: null, retired: true },
        { name: 'NULL', rating: null, born: born(1906), retired: false },
        { name: '\u6f22\u{1f600}', rating: 4, born: born(1912), retired: null },
        { name: '', rating: 1e-300, born: born(1815), retired: true },
      )

    test.each<[string, Where<Author>, number[]]>([
      ['text', { name: { in: ['b"\\,}\'', 'NULL', '\u6f22\u{1f600}', 'none'] } }, [2, 3, 4]],
      ['the empty text', { name: { in: [''] } }, [5]],
      ['ids', { id: { in: [5, 1, 1, 99] } }, [1, 5]],
      ['numbers', { rating: { in: [0.30000000000000004, 1e-300] } }, [1, 5]],
      ['dates', { born: { in: [born(1815), born(1912)] } }, [1, 4, 5]],
      ['booleans', { retired: { in: [true] } }, [2, 5]],
      ['both booleans, without null', { retired: { in: [true, false] } }, [2, 3, 5]],
      ['none', { name: { in: [] } }, []],
      ['no boolean', { active: { in: [] } }, []],
      ['no date', { born: { in: [] } }, []],
      ['values and a bound', { id: { in: [1, 2, 3], gt: 1 } }, [2, 3]],
      ['booleans and a bound', { retired: { in: [true, false], lt: true } }, [3]],
      ['two columns', { name: { in: ['a', 'NULL'] }, rating: null }, [3]],
      ['undefined is ignored', { name: { in: undefined } }, [1, 2, 3, 4, 5]],
    ])('filter: %s', async (_, where, ids) => {
      await using library = await withFive()
      const page = await library.read.authors.page({ where, order: byId, take: 10 })
      expect(page.map(({ id }) => id)).toEqual(ids)
      expect(await library.read.authors.count(where)).toBe(ids.length)
      expect((await library.read.authors.find(where)) !== undefined).toBe(ids.length > 0)
    })

    test.each([
      [false, [1, 3, 5, 2]],
      [true, [2, 3, 5, 1]],
    ])('hold next to a cursor (descending: %s)', async (descending, ids) => {
      await using library = await withAuthors(
        ...[1, 3, 2, 9, 2].map((rating, n) => ({ rating, name: 'abcde'[n] as string })),
      )
      const order = { column: 'rating', descending } as const
      const where = { rating: { in: [3, 2, 1] } }
      const rows = await library.read.authors.page({ where, order, take: 10 })
      expect(rows.map(({ id }) => id)).toEqual(ids)
      for (const [index, { id, rating }] of rows.entries()) {
        const seek = keysetRanges<Author>(where, order, 'float?', { id, key: rating })
        const rest = await library.read.authors.page({ where, seek, order, take: 10 })
        expect(rest.map(({ id }) => id)).toEqual(ids.slice(index + 1))
      }
    })

    test('select and remove rows by hundreds', async () => {
      await using library = await withFive()
      const names = Array.from({ length: 900 }, (_, n) => `name${n}`)
      const where = { name: { in: [...names, 'a', 'NULL'] } }
      expect(await library.read.authors.count(where)).toBe(2)
      expect(await library.write((tx) => tx.authors.deleteAll(where, 1))).toBe(1)
      expect(await library.write((tx) => tx.authors.deleteAll(where))).toBe(1)
      expect(await library.read.authors.count({})).toBe(3)
    })
  })

  describe('references', () => {
    /** The fields of a violation that are part of the contract. */
    async function refusal(write: Promise<unknown>) {
      const error = await write.catch((error: unknown) => error)
      if (!(error instanceof ReferenceViolation)) throw error
      const { columns, index, referring } = error
      return { columns, index, referring }
    }

    const book = (rest: object = {}) => ({ title: 'Notes', author_id: 1, ...rest })

    test('to an existing record, or null, are stored', async () => {
      await using library = await withAuthors({}, {})
      const books = await library.write((tx) => insertMany(tx.books, [book(), book({ editor_id: 2 })]))
      expect(books).toEqual([
        { id: 1, title: 'Notes', author_id: 1, editor_id: null, version: 1 },
        { id: 2, title: 'Notes', author_id: 1, editor_id: 2, version: 1 },
      ])
    })

    test('to a missing record reject the row, in the statement itself', async () => {
      await using library = await withAuthors({})
      let refused: unknown
      const write = library.write(async (tx) => {
        refused = await refusal(insertOne(tx.books, book({ editor_id: 9 })))
        throw new Error('seen')
      })
      await expect(write).rejects.toThrow('seen')
      expect(refused).toEqual({ columns: ['editor_id'], index: 0, referring: undefined })
      expect(await refusal(library.write((tx) => insertOne(tx.books, book({ author_id: 9 }))))).toEqual({
        columns: ['author_id'],
        index: 0,
        referring: undefined,
      })
      expect(await library.read.books.count({})).toBe(0)
    })

    test.each([2, 205])('name the first violating row of many, and none is stored (row %i)', async (index) => {
      await using library = await withAuthors({}, {})
      const rows = Array.from({ length: index + 5 }, (_, n) => book({ editor_id: n < index ? 2 : 9 - (n % 2) }))
      expect(await refusal(library.write((tx) => insertMany(tx.books, rows)))).toEqual({
        columns: ['editor_id'],
        index,
        referring: undefined,
      })
      expect(await library.read.books.count({})).toBe(0)
    })

    test('to a missing record reject an update', async () => {
      await using library = await withAuthors({})
      await library.write((tx) => insertOne(tx.books, book()))
      const updated = (changes: object) => library.write((tx) => update(tx.books, 1, undefined, changes))
      expect(await refusal(updated({ title: 'New', editor_id: 9 }))).toEqual({
        columns: ['editor_id'],
        index: undefined,
        referring: undefined,
      })
      expect(await library.read.books.find({ id: 1 })).toMatchObject({ title: 'Notes', editor_id: null, version: 1 })
      expect((await updated({ editor_id: 1 }))?.after).toMatchObject({ editor_id: 1, version: 2 })
    })

    test.each(['delete', 'deleteAll', 'delete of many'] as const)('protect the record from %s', async (method) => {
      await using library = await withAuthors({}, {}, {})
      await library.write((tx) => insertOne(tx.books, book({ author_id: 1, editor_id: 2 })))
      const removing = (id: number) =>
        library.write<unknown>(({ authors }) => {
          if (method === 'delete') return remove(authors, id, undefined)
          return method === 'deleteAll' ? authors.deleteAll({ id }) : removeMany(authors, [id, 4])
        })
      const by = (column: string) => ({ columns: [], index: undefined, referring: { table: 'books', column } })
      expect(await refusal(removing(1))).toEqual(by('author_id'))
      expect(await refusal(removing(2))).toEqual(by('editor_id'))
      await removing(3)
      expect(await library.read.authors.count({})).toBe(2)
    })

    const restores = <Row>(rows: Row[]) => rows.map((restore) => ({ restore }))

    test('of restored records hold, which have their ids, versions and values; all or none are restored', async () => {
      const born = new Date('1815-12-10T00:00:00.000Z')
      await using library = await withAuthors({ born, rating: 1.5, retired: true, email: 'a@b.example' }, {}, {})
      await library.write((tx) => update(tx.authors, 1, undefined, { active: false }))
      const query = { where: {}, order: byId, take: 10 }
      const authors = await library.read.authors.page(query)
      await library.write((tx) => tx.authors.deleteAll({}))
      await library.write((tx) => tx.authors.write(restores([...authors].reverse())))
      expect(await library.read.authors.page(query)).toEqual(authors)
      expect(await library.write((tx) => insertOne(tx.authors, { name: 'next', active: true }))).toMatchObject({
        id: 4,
      })
      await library.write((tx) => tx.authors.deleteAll({ id: { in: [1, 2] } }))
      const again = library.write((tx) => tx.authors.write(restores(authors)))
      await expect(again).rejects.toMatchObject({ columns: ['id'], index: 2 })
      expect(await library.read.authors.count({})).toBe(2)
      await library.write((tx) => insertOne(tx.authors, { name: 'author1', active: true }))
      const taken = library.write((tx) => tx.authors.write(restores(authors.slice(0, 2))))
      await expect(taken).rejects.toMatchObject({ columns: ['name'], index: 1 })
      expect(await library.read.authors.count({})).toBe(3)
    })

    test('protect all records of a delete if one of them is referenced', async () => {
      await using library = await withAuthors(...Array(1200).fill({}))
      await library.write((tx) => insertOne(tx.books, book({ author_id: 1100 })))
      expect(await refusal(library.write((tx) => tx.authors.deleteAll({})))).toMatchObject({
        referring: { table: 'books', column: 'author_id' },
      })
      expect(await library.read.authors.count({})).toBe(1200)
    })

    test('of rows without an id protect a record as well', async () => {
      await using library = await withAuthors({})
      await library.write((tx) => insertOne(tx.prizes, { author_id: 1, year: 2026 }))
      expect(await refusal(library.write((tx) => remove(tx.authors, 1, undefined)))).toMatchObject({
        referring: { table: 'prizes', column: 'author_id' },
      })
      expect(await refusal(library.write((tx) => insertOne(tx.prizes, { author_id: 2, year: 2026 })))).toMatchObject({
        columns: ['author_id'],
      })
    })

    test('that cascade are deleted with the record, unless another row references one of them', async () => {
      await using library = await withAuthors({})
      await library.write(async (tx) => {
        await insertMany(tx.books, [book(), book()])
        await insertMany(tx.chapters, [{ book_id: 1 }, { book_id: 1 }, { book_id: 2 }])
        await insertMany(tx.notes, [{ chapter_id: 3 }, { reply_to_id: null }])
        await insertMany(tx.notes, [{ reply_to_id: 2 }, { reply_to_id: 2 }])
      })
      await library.write((tx) => remove(tx.books, 1, undefined))
      expect(await library.read.chapters.count({})).toBe(1)
      expect(await refusal(library.write((tx) => remove(tx.books, 2, undefined)))).toEqual({
        columns: [],
        index: undefined,
        referring: { table: 'notes', column: 'chapter_id' },
      })
      expect(await library.read.books.count({})).toBe(1)
      await library.write((tx) => remove(tx.notes, 2, undefined))
      expect(await library.read.notes.count({})).toBe(1)
    })

    const shared = { actor: 'key 3', actor_detail: null, procedure: 'delete', request_id: null, address: null }
    const audit = {
      shared,
      tables: {
        books: { resource: 'books', shown: ['id', 'title'], secrets: [] },
        pages: { resource: 'pages', shown: ['id'], secrets: [] },
        notes: { resource: 'notes', shown: ['id', 'reply_to_id'], secrets: [] },
      },
    }

    async function entriesOf(library: Awaited<ReturnType<typeof openLibrary>>) {
      const entries = await library.read.auditEntries.page({ where: {}, order: byId, take: 500 })
      for (const entry of entries) expect(entry).toMatchObject({ ...shared, after: null })
      return entries
        .map(({ resource, before }) => [resource, JSON.parse(before ?? 'null')] as const)
        .sort(([a, { id }], [b, { id: other }]) => a.localeCompare(b) || id - other)
    }

    test.each(['delete', 'delete of many'] as const)(
      'that cascade insert an audit entry for each deleted row: %s',
      async (method) => {
        await using library = await withAuthors({})
        await library.write(async (tx) => {
          await insertMany(tx.books, [book(), book({ title: 'Other' })])
          await insertMany(tx.chapters, [{ book_id: 1 }, { book_id: 1 }, { book_id: 2 }])
          const pages = Array.from({ length: 300 }, (_, n) => ({ book_id: 1, chapter_id: 1 + (n % 2) }))
          await insertMany(tx.pages, [...pages, { book_id: 2, chapter_id: 3 }, { book_id: 2, chapter_id: 2 }])
        })
        const removed = await library.write<unknown>(
          ({ books }) => (method === 'delete' ? remove(books, 1, [1, 2]) : removeMany(books, [1, 9])),
          audit,
        )
        const row = { id: 1, title: 'Notes', author_id: 1, editor_id: null, version: 1 }
        expect(removed).toEqual({ delete: row, 'delete of many': [row] }[method])
        expect(await entriesOf(library)).toEqual([
          ['books', { id: 1, title: 'Notes' }],
          ...Array.from({ length: 300 }, (_, n) => ['pages', { id: n + 1 }]),
          ['pages', { id: 302 }],
        ])
        expect(await library.read.pages.count({})).toBe(1)
        expect(await library.read.chapters.count({})).toBe(1)
      },
    )

    test('that cascade exclude deletes without audit entries, as an audit of the table does', async () => {
      await using library = await withAuthors({})
      const message = 'are audited: use write.'
      await expect(library.write((tx) => tx.pages.deleteAll({}), audit)).rejects.toThrow(`Deletes of pages ${message}`)
      await expect(library.write((tx) => tx.chapters.deleteAll({}), audit)).rejects.toThrow(message)
      expect(await library.write((tx) => tx.prizes.deleteAll({}), audit)).toBe(0)
    })

    test('that cascade within one table insert an entry for each row, also in a cycle', async () => {
      await using library = await withAuthors({})
      await library.write(async ({ notes }) => {
        await insertMany(notes, [{}, {}])
        await insertMany(notes, [{ reply_to_id: 1 }, { reply_to_id: 2 }])
        await insertOne(notes, { reply_to_id: 3 })
        await update(notes, 2, undefined, { reply_to_id: 4 })
      })
      expect(await library.write(({ notes }) => remove(notes, 1, [2]), audit)).toBeUndefined()
      expect(await entriesOf(library)).toEqual([])
      expect(await library.write(({ notes }) => remove(notes, 1, [1]), audit)).toMatchObject({ id: 1 })
      expect(await library.write(({ notes }) => remove(notes, 2, undefined), audit)).toMatchObject({
        id: 2,
        version: 2,
      })
      expect(await entriesOf(library)).toEqual([
        ['notes', { id: 1, reply_to_id: null }],
        ['notes', { id: 2, reply_to_id: 4 }],
        ['notes', { id: 3, reply_to_id: 1 }],
        ['notes', { id: 4, reply_to_id: 2 }],
        ['notes', { id: 5, reply_to_id: 3 }],
      ])
      expect(await library.read.notes.count({})).toBe(0)
    })

    test('that protect a cascading row protect all rows, without an audit entry', async () => {
      await using library = await withAuthors({})
      await library.write(async (tx) => {
        await insertOne(tx.books, book())
        await insertOne(tx.chapters, { book_id: 1 })
        await insertOne(tx.pages, { book_id: 1, chapter_id: 1 })
        await insertOne(tx.notes, { chapter_id: 1 })
      })
      expect(await refusal(library.write((tx) => remove(tx.books, 1, undefined), audit))).toMatchObject({
        referring: { table: 'notes', column: 'chapter_id' },
      })
      expect(await library.read.pages.count({})).toBe(1)
      expect(await entriesOf(library)).toEqual([])
    })
  })

  test.each([
    ['name', { name: 'author1', email: 'new' }],
    ['email', { name: 'new', email: 'ada@example.com' }],
  ])('a duplicate value is rejected with its column, for one row and for several: %s', async (column, taken) => {
    await using library = await withAuthors({ email: 'ada@example.com' }, {}, {})
    const row = { active: true, ...taken }
    await expect(library.write((tx) => insertOne(tx.authors, row))).rejects.toMatchObject({ columns: [column] })
    const rows = [{ name: 'bob', active: true }, { name: 'cid', active: true }, row]
    const write = library.write((tx) => insertMany(tx.authors, rows))
    await expect(write).rejects.toMatchObject({ columns: [column], index: 2 })
    expect(await library.read.authors.count({})).toBe(3)
  })

  test('queries follow relations, and a delete that cascades to an audited model is refused', async () => {
    const { clients, declarations } = await generatedLibrary()
    await using library = await openLibrary(engine)
    const { reads, transaction } = await openPrisma(library.reads, clients[engine], declarations)
    const author = { name: 'Ada', active: true, born: new Date('1815-12-10T00:00:00.000Z') } as NewRow<Author>
    await library.write(async (tx) => {
      const { id } = await insertOne(tx.authors, author)
      const book = await insertOne(tx.books, { title: 'Notes', author_id: id, editor_id: null })
      await insertOne(tx.chapters, { book_id: book.id })
    })
    // biome-ignore lint/suspicious/noExplicitAny: the library's client has no types here
    const models = reads as any
    expect(await models.author.findMany({ include: { books: { include: { chapters: true } } } })).toEqual([
      {
        ...{ id: 1, name: 'Ada', email: null, active: true, retired: null, rating: null, version: 1 },
        born: author.born,
        books: [
          {
            ...{ id: 1, title: 'Notes', author_id: 1, editor_id: null, version: 1 },
            chapters: [{ id: 1, book_id: 1, version: 1 }],
          },
        ],
      },
    ])
    const shared = { actor: 'local', actor_detail: null, procedure: 'books.delete', request_id: null, address: null }
    const tables = { chapters: { resource: 'chapters', shown: ['id'], secrets: [] } }
    const deleting = library.write(async (_, executor) => {
      const { models, end } = await transaction(executor, { shared, tables })
      // biome-ignore lint/suspicious/noExplicitAny: the library's client has no types here
      return (models as any).book.deleteMany().finally(end)
    })
    await expect(deleting).rejects.toThrow('Changes of chapters belong in the audit log')
  })
})
