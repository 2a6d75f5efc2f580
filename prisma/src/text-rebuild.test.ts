import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../test/database.ts'
import { addMigration, copyHistory, copyHistoryBefore } from '../test/history.ts'
import { emptyDatabase } from '../test/postgres.ts'
import { createDatabase } from './index.ts'
import { migratePostgres } from './postgres/migrate.ts'
import { migrate } from './sqlite/migrate.ts'

// More rows than a step has, the last of them in NFD; then rows as earlier versions stored them.
const ROWS = `INSERT INTO items (name, name_key, price, category)
    WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5001)
    SELECT CASE n WHEN 5001 THEN 'Jose\u0301' ELSE 'Lamp' END, CASE n WHEN 5001 THEN 'jose\u0301' ELSE 'lamp' END, 1, 'A\u030a' FROM n;
  INSERT INTO items (name, name_key, price, category) VALUES ('Straße', 'straße', 1, NULL), ('我爱北京', '我爱北京', 1, 'Å');`

async function expectRebuilt(url: string): Promise<void> {
  await using database = await opened(url)
  const { items } = database.read
  const order = { column: 'id', descending: false } as const
  const page = await items.page({ where: { id: { gte: 5_000 } }, order, take: 9 })
  expect(page.map(({ name, name_key, category, version }) => [name, name_key, category, version])).toEqual([
    ['Lamp', 'lamp', 'Å', 2],
    ['José', 'josé', 'Å', 2],
    ['Straße', 'strasse', null, 1],
    ['我爱北京', '我\u3164爱\u3164北\u3164京', 'Å', 1],
  ])
  expect(await items.count({ category: 'Å' })).toBe(5_002)
  const found = (word: string) => items.page({ where: { name_key: { contains: { words: [word] } } }, order, take: 9 })
  expect((await found('josé')).map(({ id }) => id)).toEqual([5_001])
  expect((await found('北\u3164京')).map(({ id }) => id)).toEqual([5_003])
  expect(await found('北京')).toEqual([])
}

async function opened(url: string) {
  const database = await createDatabase(url)
  return { ...database, [Symbol.asyncDispose]: () => database.close() }
}

test('on SQLite the migration to NFC and full case folding rebuilds texts and search keys; a repetition changes nothing', async () => {
  await using folder = await temporaryFolder()
  await migrate(folder.file, await copyHistoryBefore('sqlite', '0009', folder.path))
  const execute = (sql: string) => {
    const database = new Sqlite(folder.file)
    database.exec(sql)
    database.close()
  }
  execute(ROWS)
  await expectRebuilt(`file:${folder.file}`)
  // As after a power cut between the last step and the end of the migration.
  execute(`DELETE FROM _prisma_migrations WHERE migration_name = '0009_unicode_text'`)
  await expectRebuilt(`file:${folder.file}`)
})

test('on PostgreSQL the migration to NFC and full case folding rebuilds texts and search keys; a repetition changes nothing', async () => {
  await using folder = await temporaryFolder()
  const { url, parsed, rows } = await emptyDatabase()
  await migratePostgres(parsed, 5_000, { folder: await copyHistoryBefore('postgresql', '0009', folder.path) })
  await rows(ROWS)
  await expectRebuilt(url)
  await rows(`DELETE FROM _prisma_migrations WHERE migration_name = '0009_unicode_text'`)
  await expectRebuilt(url)
})

test('a rebuild that makes two values of a unique column equal names the migration and the column, and keeps both', async () => {
  await using folder = await temporaryFolder()
  await migrate(folder.file)
  const history = await copyHistory('sqlite', folder.path)
  await addMigration(
    history,
    '9001_notes',
    'CREATE TABLE notes (id INTEGER PRIMARY KEY, version INTEGER, text TEXT UNIQUE);',
  )
  await migrate(folder.file, history)
  const database = new Sqlite(folder.file)
  database.exec(`INSERT INTO notes VALUES (1, 1, 'José'), (2, 1, 'Jose\u0301')`)
  await addMigration(history, '9002_nfc', '-- RebuildText "notes" ("text")')
  await expect(migrate(folder.file, history)).rejects.toThrow(
    'Migration 9002_nfc failed and was rolled back: UNIQUE constraint failed: notes.text. Correct its migration.sql or the data, then start again.',
  )
  expect(database.prepare('SELECT text FROM notes ORDER BY id').pluck().all()).toEqual(['José', 'Jose\u0301'])
  database.exec('DELETE FROM notes WHERE id = 1')
  database.close()
  expect(await migrate(folder.file, history)).toEqual(['9002_nfc'])
})
