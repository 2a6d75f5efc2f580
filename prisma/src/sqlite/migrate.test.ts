import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, copyFile, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { modelsFor } from '../../scripts/models.ts'
import {
  filtersFor,
  historySql,
  openSchemaEngine,
  readMigrationList,
  schemaDifference,
} from '../../scripts/schema-engine.ts'
import { searchTablesOf, withSearchIndexes } from '../../scripts/search-index.ts'
import { newUser, temporaryFolder } from '../../test/database.ts'
import { addMigration, copyHistory, copyHistoryBefore, migrationNames } from '../../test/history.ts'
import { tableNames } from '../../test/plans.ts'
import { insertOne } from '../../test/rows.ts'
import { createDatabase } from '../index.ts'
import { declarations } from '../tables/declarations.ts'
import { migrate } from './migrate.ts'

test('the models and the migration history agree', async () => {
  expect(await schemaDifference('sqlite', ':memory:')).toBeUndefined()
  const none = { sqlite: '', postgresql: '' }
  expect(withSearchIndexes(historySql('sqlite'), none, modelsFor('sqlite'))).toEqual(none)
})

test('a new file gets every table', async () => {
  await using folder = await temporaryFolder()
  await migrate(folder.file)
  const tables = query(folder.file, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
  const names = tables.map(({ name }) => name).sort()
  const searched = Object.values(declarations).filter(({ search }) => search.length > 0)
  const indexes = searched.flatMap(({ name }) => searchTablesOf(name))
  expect(names).toEqual(['_prisma_migrations', ...tableNames, ...indexes].sort())
  expect(names).toEqual(expect.arrayContaining(['api_keys', 'audit_entries', 'books', 'items', 'users']))
})

test('the second start applies nothing', async () => {
  await using folder = await temporaryFolder()
  expect(await migrate(folder.file)).toEqual(migrationNames('sqlite'))
  expect(await migrate(folder.file)).toEqual([])
})

test('prisma migrate deploy finds no pending migrations', async () => {
  await using folder = await temporaryFolder()
  await migrate(folder.file)
  await using engine = await openSchemaEngine('sqlite', `file:${folder.file}`)
  const migrationsList = await readMigrationList('sqlite')
  expect(
    await engine.diagnoseMigrationHistory({
      migrationsList,
      optInToShadowDatabase: false,
      filters: filtersFor('sqlite'),
    }),
  ).toEqual({
    editedMigrationNames: [],
    failedMigrationNames: [],
    hasMigrationsTable: true,
    history: null,
  })
  expect(await engine.applyMigrations({ migrationsList, filters: filtersFor('sqlite') })).toEqual({
    appliedMigrationNames: [],
  })
})

test('a database made by prisma migrate deploy is accepted unchanged, with the same rows and tables', async () => {
  await using ours = await temporaryFolder()
  await using theirs = await temporaryFolder()
  await migrate(ours.file)
  {
    await using engine = await openSchemaEngine('sqlite', `file:${theirs.file}`)
    await engine.applyMigrations({ migrationsList: await readMigrationList('sqlite'), filters: filtersFor('sqlite') })
  }

  expect(await migrate(theirs.file)).toEqual([])
  const rows = `SELECT length(id), checksum, migration_name, logs, rolled_back_at, applied_steps_count,
    typeof(started_at), typeof(finished_at) FROM _prisma_migrations`
  expect(query(ours.file, rows)).toEqual(query(theirs.file, rows))
  const definitions = 'SELECT name, sql FROM sqlite_schema ORDER BY name'
  expect(query(ours.file, definitions)).toEqual(query(theirs.file, definitions))
})

test('eight processes that start at once on a new file all succeed', async () => {
  await using folder = await temporaryFolder()
  const script = `
    import { createDatabase } from ${JSON.stringify(new URL('../index.ts', import.meta.url).href)}
    const database = await createDatabase(${JSON.stringify(`file:${folder.file}`)})
    await database.write((tx) => tx.books.write([{ create: { title: 't', title_key: 't', author: 'a', author_key: 'a', published_date: '2026-01-02' } }]))
    await database.close()`
  const exits = Array.from({ length: 8 }, async () => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let errors = ''
    child.stderr.on('data', (chunk) => {
      errors += chunk
    })
    const [code] = await once(child, 'close')
    return code === 0 ? 'succeeded' : errors
  })
  expect(await Promise.all(exits)).toEqual(Array(8).fill('succeeded'))
  expect(query(folder.file, 'SELECT migration_name FROM _prisma_migrations')).toHaveLength(
    migrationNames('sqlite').length,
  )
  expect(query(folder.file, 'SELECT id FROM books')).toHaveLength(8)
})

test('pending migrations run in the order of their names', async () => {
  await using folder = await temporaryFolder()
  const history = await copyHistory('sqlite', folder.path)
  await migrate(folder.file, history)
  await addMigration(history, '9002_second', 'INSERT INTO notes (text) VALUES (1);')
  await addMigration(history, '9001_first', 'CREATE TABLE notes (text);')
  expect(await migrate(folder.file, history)).toEqual(['9001_first', '9002_second'])
})

test('a failing migration is named and rolled back; earlier ones stay applied', async () => {
  await using folder = await temporaryFolder()
  const history = await copyHistory('sqlite', folder.path)
  await addMigration(history, '9001_good', 'CREATE TABLE notes (text);')
  await addMigration(history, '9002_bad', 'CREATE TABLE more (text); INSERT INTO nowhere VALUES (1);')
  await expect(migrate(folder.file, history)).rejects.toThrow(
    'Migration 9002_bad failed and was rolled back: no such table: nowhere',
  )
  const tables = query(folder.file, `SELECT name FROM sqlite_schema WHERE name IN ('notes', 'more')`)
  expect(tables).toEqual([{ name: 'notes' }])
})

test('a migration that rebuilds a table keeps the rows that reference it', async () => {
  await using folder = await temporaryFolder()
  const history = await copyHistory('sqlite', folder.path)
  await addMigration(
    history,
    '9001_parents',
    `CREATE TABLE parent (id INTEGER PRIMARY KEY);
     CREATE TABLE child (parent_id INTEGER REFERENCES parent (id) ON DELETE CASCADE);
     INSERT INTO parent VALUES (1);
     INSERT INTO child VALUES (1);`,
  )
  await addMigration(
    history,
    '9002_rebuild',
    `PRAGMA defer_foreign_keys=ON;
     PRAGMA foreign_keys=OFF;
     CREATE TABLE new_parent (id INTEGER PRIMARY KEY, name TEXT);
     INSERT INTO new_parent (id) SELECT id FROM parent;
     DROP TABLE parent;
     ALTER TABLE new_parent RENAME TO parent;
     PRAGMA foreign_keys=ON;
     PRAGMA defer_foreign_keys=OFF;`,
  )
  await migrate(folder.file, history)
  expect(query(folder.file, 'SELECT parent_id FROM child')).toEqual([{ parent_id: 1 }])
})

test('a migration that leaves a dangling reference is rolled back', async () => {
  await using folder = await temporaryFolder()
  const history = await copyHistory('sqlite', folder.path)
  await addMigration(
    history,
    '9001_dangling',
    `CREATE TABLE parent (id INTEGER PRIMARY KEY);
     CREATE TABLE child (parent_id INTEGER REFERENCES parent (id));
     INSERT INTO child VALUES (1);`,
  )
  await expect(migrate(folder.file, history)).rejects.toThrow('rows of child refer to rows that do not exist')
})

test('an applied migration that was edited is rejected by name', async () => {
  await using folder = await temporaryFolder()
  const history = await copyHistory('sqlite', folder.path)
  await migrate(folder.file, history)
  await appendFile(join(history, '0001_init', 'migration.sql'), '\n-- a second thought')
  await expect(migrate(folder.file, history)).rejects.toThrow('Migration 0001_init was edited after it was applied')
})

test('an applied migration that is missing from the folder is rejected by name', async () => {
  await using folder = await temporaryFolder()
  const history = await copyHistory('sqlite', folder.path)
  await migrate(folder.file, history)
  await rename(join(history, '0001_init'), join(folder.path, 'elsewhere'))
  await expect(migrate(folder.file, history)).rejects.toThrow(
    'Migration 0001_init was applied to the database but is missing',
  )
})

test('an earlier version accepts newer migrations that are compatible, and names one that is not', async () => {
  await using folder = await temporaryFolder()
  const history = await copyHistory('sqlite', folder.path)
  await addMigration(history, '9001_compatible_color', 'ALTER TABLE items ADD COLUMN color TEXT;')
  await migrate(folder.file, history)
  expect(await migrate(folder.file)).toEqual([])
  await addMigration(history, '9002_drop_color', 'ALTER TABLE items DROP COLUMN color;')
  await migrate(folder.file, history)
  await expect(migrate(folder.file)).rejects.toThrow(
    'Migration 9002_drop_color was applied to the database but is missing here: the database is newer than this program, and the migration is not compatible with earlier versions. Start the version that added the migration, or restore an older backup.',
  )
})

test('a migration that another tool left incomplete is rejected by name until it is marked as rolled back', async () => {
  await using folder = await temporaryFolder()
  await migrate(folder.file)
  const database = new Sqlite(folder.file)
  database.exec(`INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ('1', '', '9001_half')`)
  await expect(migrate(folder.file)).rejects.toThrow('Migration 9001_half failed halfway')
  database.exec(`UPDATE _prisma_migrations SET rolled_back_at = 1 WHERE id = '1'`)
  database.close()
  expect(await migrate(folder.file)).toEqual([])
})

test("another program's database is rejected and not modified", async () => {
  await using folder = await temporaryFolder()
  const database = new Sqlite(folder.file)
  database.exec('CREATE TABLE invoices (id)')
  database.close()
  await expect(migrate(folder.file)).rejects.toThrow('has tables (invoices) but no migration history')
  expect(query(folder.file, 'SELECT name FROM sqlite_schema')).toEqual([{ name: 'invoices' }])
})

test('a file that is not a database is rejected by name', async () => {
  await using folder = await temporaryFolder()
  await writeFile(folder.file, 'This is a letter, and no database, of more than a hundred bytes: '.repeat(20))
  await expect(migrate(folder.file)).rejects.toThrow(
    `The database file ${folder.file} cannot be used: file is not a database`,
  )
})

test('an error caused by a full disk gives the disk as the reason', async ({ skip }) => {
  await using folder = await temporaryFolder()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder.path], { stdio: 'pipe' })
  } catch {
    skip('without the permission to mount')
  }
  using _disk = { [Symbol.dispose]: () => execFileSync('umount', [folder.path]) }
  const history = await copyHistory('sqlite', folder.path)
  const other = join(folder.path, 'other')
  const fill = () => writeFile(other, Buffer.alloc(1024 * 1024)).catch(({ code }) => code)
  const failure = async () => String(await migrate(folder.file, history).catch((error) => error.message))
  const messageFor = (reason: string) =>
    `The database file ${folder.file} cannot be used: ${reason}. The disk may be full or failing: free space or check the disk, then start again.`

  expect(await fill()).toBe('ENOSPC')
  expect(await failure()).toBe(messageFor('database or disk is full'))
  await rm(other)
  await migrate(folder.file, history)
  expect(await fill()).toBe('ENOSPC')
  expect(await failure()).toBe(messageFor('disk I/O error'))
  await rm(other)
  // More than SQLite caches, so that the migration fails and not only its commit.
  await addMigration(history, '9001_large', 'CREATE TABLE large AS SELECT zeroblob(32 * 1024 * 1024) AS data;')
  expect(await failure()).toBe(messageFor('database or disk is full'))
})

test('the migration fills the keys of existing records as the service does, and indexes them', async () => {
  await using folder = await temporaryFolder()
  await migrate(folder.file, await copyHistoryBefore('sqlite', '0006', folder.path))
  const old = new Sqlite(folder.file)
  old
    .prepare(`INSERT INTO books (title, author, published_date) VALUES (?, ?, '2026-01-02')`)
    .run('  ÄRGER \t\u00a0und  ЖУК', 'Édouard\u3000MANET')
  old.close()
  const database = await createDatabase(`file:${folder.file}`)
  const where = { title_key: { contains: { words: ['жук', 'éd'], columns: ['title_key', 'author_key'] } } }
  expect(await database.read.books.find(where)).toMatchObject({
    title_key: 'ärger und жук',
    author_key: 'édouard manet',
  })
  await database.close()
})

test('the migration of Greek search keys changes them in the records and in the index', async () => {
  await using folder = await temporaryFolder()
  await migrate(folder.file, await copyHistoryBefore('sqlite', '0008', folder.path))
  const old = new Sqlite(folder.file)
  old.prepare(`INSERT INTO items (name, name_key, price) VALUES ('Ὀδυσσεὺς', 'ὀδυσσεὺς', 1), ('Lamp', 'lamp', 2)`).run()
  old.close()
  const database = await createDatabase(`file:${folder.file}`)
  const where = { name_key: { contains: { words: ['εὺσ'] } } }
  expect(await database.read.items.find(where)).toMatchObject({ name: 'Ὀδυσσεὺς', name_key: 'ὀδυσσεὺσ' })
  expect(await database.read.items.find({ id: 2 })).toMatchObject({ name_key: 'lamp' })
  await database.close()
})

test('a migration keeps existing records', async () => {
  await using folder = await temporaryFolder()
  const database = await createDatabase(`file:${folder.file}`)
  await database.write((tx) => insertOne(tx.users, newUser('ada')))
  await database.close()
  const history = await copyHistory('sqlite', folder.path)
  await addMigration(history, '9001_phone', 'ALTER TABLE users ADD COLUMN phone TEXT;')
  await migrate(folder.file, history)
  expect(query(folder.file, 'SELECT name, phone FROM users')).toEqual([{ name: 'ada', phone: null }])
})

function query(file: string, sql: string): Record<string, unknown>[] {
  const database = new Sqlite(file, { readonly: true })
  try {
    return database.prepare<[], Record<string, unknown>>(sql).all()
  } finally {
    database.close()
  }
}

test('the next start moves commits of a killed process from the log into the file', async () => {
  await using folder = await temporaryFolder()
  const killed = `${folder.file}.killed`
  await migrate(killed)
  const database = new Sqlite(killed)
  database.exec(`INSERT INTO items (name, price) VALUES ('Rug', 80)`)
  for (const ending of ['', '-wal']) await copyFile(killed + ending, folder.file + ending)
  database.close()
  const reader = new Sqlite(folder.file)
  reader.pragma('journal_mode')
  await migrate(folder.file)
  expect((await stat(`${folder.file}-wal`)).size).toBe(0)
  expect((await readFile(folder.file)).includes('Rug')).toBe(true)
  reader.close()
})

test('a start succeeds while another process reads, and keeps the log of that process', async () => {
  await using folder = await temporaryFolder()
  await migrate(folder.file)
  const reader = new Sqlite(folder.file)
  const count = () => reader.prepare('SELECT count(*) FROM items').pluck().get()
  reader.exec('BEGIN')
  expect(count()).toBe(0)
  const writer = new Sqlite(folder.file)
  writer.exec(`INSERT INTO items (name, price) VALUES ('Rug', 80)`)
  expect(await migrate(folder.file)).toEqual([])
  expect(count()).toBe(0)
  reader.exec('COMMIT')
  expect(count()).toBe(1)
  reader.close()
  writer.close()
})

test('a start rewrites and syncs the whole log before it moves any of it: pages of a failed sync may be marked as clean', async () => {
  await using folder = await temporaryFolder()
  const killed = `${folder.file}.killed`
  await migrate(killed)
  const database = new Sqlite(killed)
  database.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
    INSERT INTO items (name, price) SELECT 'Rug ' || i, i FROM n`)
  for (const ending of ['', '-wal']) await copyFile(killed + ending, folder.file + ending)
  database.close()
  const { size } = await stat(`${folder.file}-wal`)
  expect(size).toBeGreaterThan(1024 * 1024)
  const before = (await stat(folder.file)).size
  const script = `
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const file = ${JSON.stringify(folder.file)}
    const calls = []
    const { writeSync, fdatasyncSync } = fs
    fs.writeSync = (...parameters) => {
      const bytes = writeSync(...parameters)
      calls.push(bytes)
      return bytes
    }
    fs.fdatasyncSync = (descriptor) => {
      fdatasyncSync(descriptor)
      calls.push({ file: fs.statSync(file).size })
    }
    syncBuiltinESMExports()
    const { migrate } = await import(${JSON.stringify(new URL('./migrate.ts', import.meta.url).href)})
    await migrate(file)
    console.log(JSON.stringify(calls))`
  const calls = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' }),
  )
  const written: number[] = calls.slice(0, -1)
  expect(written.reduce((sum, bytes) => sum + bytes, 0)).toBe(size)
  expect(calls.at(-1)).toEqual({ file: before })
})
