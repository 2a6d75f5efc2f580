import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/database.ts'
import { copyHistoryBefore } from '../../test/history.ts'
import { explainedTables } from '../../test/plans.ts'
import { emptyDatabase, migratedDatabase, openDatabase } from '../../test/postgres.ts'
import { insertOne } from '../../test/rows.ts'
import { migratePostgres } from './migrate.ts'

const byId = { column: 'id', descending: false } as const
const filled = (rows: number) => `INSERT INTO items (name, name_key, price)
  SELECT name, name, n FROM generate_series(1, ${rows}) n, LATERAL (SELECT 'lamp ' || n AS name)`
const idsOf = (rows: { id: number }[]) => rows.map(({ id }) => id)

test('a search uses the index, whichever of its columns it names', async () => {
  const { url } = await migratedDatabase()
  await using database = await openDatabase(url)
  expect(database.read.users.searchLimit).toBeUndefined()
  const { read, plans, close } = explainedTables(url, '-c enable_seqscan=off -c enable_indexscan=off')
  await read.users.count({ name_key: { contains: { words: ['lovelace', 'ad'], columns: ['name_key', 'email_key'] } } })
  await read.users.count({ email_key: { contains: { words: ['lovelace'] } } })
  await read.items.count({ name_key: { contains: { words: ['lamp'] } } })
  await close()
  for (const { steps } of plans) expect(steps.join('\n')).toContain('_search_idx')
})

test('without pg_trgm a search looks at the first 100,000 rows in sort order, and a warning says so', async () => {
  const { url, rows } = await migratedDatabase()
  await rows('DROP EXTENSION pg_trgm CASCADE')
  await rows(filled(100_100))
  const warnings: string[] = []
  await using database = await openDatabase(url, { onWarning: (message) => warnings.push(message) })
  expect(warnings).toEqual([expect.stringContaining('a search looks at the first 100,000 records in sort order only')])
  const { items } = database.read
  expect(items.searchLimit).toBe(100_000)
  const found = async (word: string, descending = false) => {
    const where = { name_key: { contains: { words: [word] } } }
    return idsOf(await items.page({ where, order: { column: 'price', descending }, take: 3 }))
  }
  expect(await found('lamp')).toEqual([1, 2, 3])
  expect(await found('99999')).toEqual([99_999])
  expect(await found('100100')).toEqual([])
  expect(await found('100100', true)).toEqual([100_100])
  expect(await items.count({ name_key: { contains: { words: ['100100'] } } })).toBe(1)
})

test('a role that may not create the extension can migrate, and searches without an index', async () => {
  const { url, rows, setDefault } = await emptyDatabase()
  const role = `role_${new URL(url).pathname.slice(1).replaceAll('-', '_')}`
  await rows(`CREATE ROLE "${role}"; GRANT ALL ON SCHEMA public TO "${role}"`)
  await setDefault(`role = "${role}"`)
  await using database = await openDatabase(url)
  expect(database.read.items.searchLimit).toBe(100_000)
  await database.write((tx) => insertOne(tx.items, { name: 'Lamp', name_key: 'lamp', price: 1 }))
  const where = { name_key: { contains: { words: ['am'] } } }
  expect(await database.read.items.page({ where, order: byId, take: 9 })).toEqual([])
  const found = await database.read.items.page({
    where: { name_key: { contains: { words: ['amp'] } } },
    order: byId,
    take: 9,
  })
  expect(idsOf(found)).toEqual([1])
})

test('the migration fills the keys of existing records as the service does, and indexes them', async () => {
  await using folder = await temporaryFolder()
  const { url, parsed, rows } = await emptyDatabase()
  await migratePostgres(parsed, 5_000, { folder: await copyHistoryBefore('postgresql', '0006', folder.path) })
  await rows(
    String.raw`INSERT INTO books (title, author, published_date) VALUES (E'  ÄRGER \t\u00a0und  ЖУК Οδυσσεύς', E'Édouard\u3000MANET', '2026-01-02')`,
  )
  await using database = await openDatabase(url)
  expect(await database.read.books.find({ id: 1 })).toMatchObject({
    title_key: 'ärger und жук οδυσσεύσ',
    author_key: 'édouard manet',
  })
})
