import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { startPostgres } from '@resource/postgres-test'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { postgresSql, separateIndexes } from '../../scripts/postgres-sql.ts'
import { filtersFor, openSchemaEngine, readMigrationList, schemaDifference } from '../../scripts/schema-engine.ts'
import { newUser, temporaryFolder } from '../../test/database.ts'
import { addMigration, copyHistory, migrationNames } from '../../test/history.ts'
import { tableNames } from '../../test/plans.ts'
import { emptyDatabase } from '../../test/postgres.ts'
import { insertOne } from '../../test/rows.ts'
import { createDatabase } from '../index.ts'
import { migratePostgres } from './migrate.ts'
import { readPostgresUrl } from './url.ts'

const WAIT_MS = 5_000

test('the models and the migration history agree', async () => {
  expect(await schemaDifference('postgresql', inject('postgres'))).toBeUndefined()
})

test('a new migration orders text by code point, and null below every value in its indexes', () => {
  const models = `
model Order {
  id Int @id
  note  String?
  place String

  @@map("orders")
}`
  const sql = `-- CreateTable TEXT
CREATE TABLE "orders" (
    "note" TEXT,
    "place" TEXT NOT NULL
);
ALTER TABLE "orders" ADD COLUMN     "more" TEXT NOT NULL DEFAULT '';
CREATE INDEX "orders_note_id_idx" ON "orders"("note", "id");
CREATE INDEX "orders_note_desc_place_idx" ON "orders"("note" DESC, "place" DESC);
CREATE UNIQUE INDEX "books_note_key" ON "books"("note");`
  expect(postgresSql(sql, models)).toBe(`-- CreateTable TEXT
CREATE TABLE "orders" (
    "note" TEXT COLLATE "C",
    "place" TEXT COLLATE "C" NOT NULL
);
ALTER TABLE "orders" ADD COLUMN     "more" TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX "orders_note_id_idx" ON "orders"("note" NULLS FIRST, "id");
CREATE INDEX "orders_note_desc_place_idx" ON "orders"("note" DESC NULLS LAST, "place" DESC);
CREATE UNIQUE INDEX "books_note_key" ON "books"("note");`)
})

test('each new index of an existing table is a migration of its own', () => {
  const created = `-- CreateTable
CREATE TABLE "orders" (
);

-- CreateIndex
CREATE INDEX "orders_note_idx" ON "orders"("note");
`
  const { sql, indexes } = separateIndexes(`${created}
-- CreateIndex
CREATE INDEX "items_color_id_idx" ON "items"("color", "id");

-- CreateIndex
CREATE UNIQUE INDEX "books_isbn_key" ON "books"("isbn");
`)
  expect(sql).toBe(created)
  expect(indexes).toEqual([
    {
      name: 'items_color_id_idx',
      sql: '-- CreateIndex\nCREATE INDEX CONCURRENTLY IF NOT EXISTS "items_color_id_idx" ON "items"("color", "id");\n',
    },
    {
      name: 'books_isbn_key',
      sql: '-- CreateIndex\nCREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "books_isbn_key" ON "books"("isbn");\n',
    },
  ])
})

test('every text column compares by code point, and every index sorts null below every value', async () => {
  const { parsed, rows } = await emptyDatabase()
  await migratePostgres(parsed, WAIT_MS)
  const otherText = await rows(`
    SELECT table_name, column_name FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name <> '_prisma_migrations' AND data_type = 'text'
      AND collation_name IS DISTINCT FROM 'C'`)
  expect(otherText).toEqual([])
  // Bit 0 of an index's option means descending, bit 1 nulls first.
  const otherNulls = await rows(`
    SELECT indexrelid::regclass::text AS index, attname AS column
    FROM pg_index, unnest(indkey, indoption) AS part (attribute, option), pg_attribute
    WHERE indrelid = attrelid AND attnum = part.attribute AND NOT attnotnull AND indpred IS NULL
      AND indrelid::regclass::text IN (${tableNames.map((name) => `'${name}'`)})
      AND (option & 1 = 1) = (option & 2 = 2)`)
  expect(otherNulls).toEqual([])
})

test('the second start applies nothing', async () => {
  const { parsed } = await emptyDatabase()
  expect(await migratePostgres(parsed, WAIT_MS)).toEqual(migrationNames('postgresql'))
  expect(await migratePostgres(parsed, WAIT_MS)).toEqual([])
})

test('prisma migrate deploy finds no pending migrations', async () => {
  const { parsed, url } = await emptyDatabase()
  await migratePostgres(parsed, WAIT_MS)
  await using engine = await openSchemaEngine('postgresql', url)
  const migrationsList = await readMigrationList('postgresql')
  expect(
    await engine.diagnoseMigrationHistory({
      migrationsList,
      optInToShadowDatabase: false,
      filters: filtersFor('postgresql'),
    }),
  ).toEqual({
    editedMigrationNames: [],
    failedMigrationNames: [],
    hasMigrationsTable: true,
    history: null,
  })
  expect(await engine.applyMigrations({ migrationsList, filters: filtersFor('postgresql') })).toEqual({
    appliedMigrationNames: [],
  })
})

test('a database made by prisma migrate deploy is accepted unchanged, with the same rows and tables', async () => {
  const ours = await emptyDatabase()
  const theirs = await emptyDatabase()
  await migratePostgres(ours.parsed, WAIT_MS)
  {
    await using engine = await openSchemaEngine('postgresql', theirs.url)
    await engine.applyMigrations({
      migrationsList: await readMigrationList('postgresql'),
      filters: filtersFor('postgresql'),
    })
  }

  expect(await migratePostgres(theirs.parsed, WAIT_MS)).toEqual([])
  const applied = `SELECT length(id), checksum, migration_name, logs, rolled_back_at, applied_steps_count,
    started_at IS NULL AS unstarted, finished_at IS NULL AS unfinished FROM _prisma_migrations ORDER BY migration_name`
  expect(await ours.rows(applied)).toEqual(await theirs.rows(applied))
  const columns = `SELECT table_name, column_name, data_type, is_nullable, column_default, collation_name,
      character_maximum_length, datetime_precision
    FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position`
  expect(await ours.rows(columns)).toEqual(await theirs.rows(columns))
  const indexes = `SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname`
  expect(await ours.rows(indexes)).toEqual(await theirs.rows(indexes))
})

test('eight processes that start at once on an empty database all succeed', async () => {
  const { url, rows } = await emptyDatabase()
  const script = `
    import { createDatabase } from ${JSON.stringify(new URL('../index.ts', import.meta.url).href)}
    const database = await createDatabase(${JSON.stringify(url)})
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
  const applied = await rows('SELECT migration_name FROM _prisma_migrations ORDER BY migration_name')
  expect(applied.map(({ migration_name }) => migration_name)).toEqual(migrationNames('postgresql'))
  expect(await rows('SELECT id FROM books')).toHaveLength(8)
})

test('pending migrations run in the order of their names', async () => {
  await using folder = await temporaryFolder()
  const { parsed } = await emptyDatabase()
  const history = await copyHistory('postgresql', folder.path)
  await migratePostgres(parsed, WAIT_MS, { folder: history })
  await addMigration(history, '9002_second', 'INSERT INTO notes (text) VALUES (1);')
  await addMigration(history, '9001_first', 'CREATE TABLE notes (text int);')
  expect(await migratePostgres(parsed, WAIT_MS, { folder: history })).toEqual(['9001_first', '9002_second'])
})

test('a failing migration is named and rolled back; earlier ones stay applied', async () => {
  await using folder = await temporaryFolder()
  const { parsed, rows } = await emptyDatabase()
  const history = await copyHistory('postgresql', folder.path)
  await addMigration(history, '9001_good', 'CREATE TABLE notes (text int);')
  await addMigration(history, '9002_bad', 'CREATE TABLE more (text int); INSERT INTO nowhere VALUES (1);')
  await expect(migratePostgres(parsed, WAIT_MS, { folder: history })).rejects.toThrow(
    'Migration 9002_bad failed and was rolled back: relation "nowhere" does not exist',
  )
  expect(await rows(`SELECT tablename FROM pg_tables WHERE tablename IN ('notes', 'more')`)).toEqual([
    { tablename: 'notes' },
  ])
})

test('an applied migration that was edited is rejected by name', async () => {
  await using folder = await temporaryFolder()
  const { parsed } = await emptyDatabase()
  const history = await copyHistory('postgresql', folder.path)
  await migratePostgres(parsed, WAIT_MS, { folder: history })
  await appendFile(join(history, '0001_init', 'migration.sql'), '\n-- a second thought')
  await expect(migratePostgres(parsed, WAIT_MS, { folder: history })).rejects.toThrow(
    'Migration 0001_init was edited after it was applied',
  )
})

test('an applied migration that is missing from the folder is rejected by name', async () => {
  await using folder = await temporaryFolder()
  const { parsed } = await emptyDatabase()
  const history = await copyHistory('postgresql', folder.path)
  await migratePostgres(parsed, WAIT_MS, { folder: history })
  await rename(join(history, '0001_init'), join(folder.path, 'elsewhere'))
  await expect(migratePostgres(parsed, WAIT_MS, { folder: history })).rejects.toThrow(
    'Migration 0001_init was applied to the database but is missing',
  )
})

test('an earlier version accepts newer migrations that are compatible, and names one that is not', async () => {
  await using folder = await temporaryFolder()
  const { parsed } = await emptyDatabase()
  const history = await copyHistory('postgresql', folder.path)
  await addMigration(history, '9001_compatible_color', 'ALTER TABLE items ADD COLUMN color TEXT;')
  await migratePostgres(parsed, WAIT_MS, { folder: history })
  expect(await migratePostgres(parsed, WAIT_MS)).toEqual([])
  await addMigration(history, '9002_drop_color', 'ALTER TABLE items DROP COLUMN color;')
  await migratePostgres(parsed, WAIT_MS, { folder: history })
  await expect(migratePostgres(parsed, WAIT_MS)).rejects.toThrow(
    'Migration 9002_drop_color was applied to the database but is missing here: the database is newer than this program, and the migration is not compatible with earlier versions. Start the version that added the migration, or restore an older backup.',
  )
})

test('a migration that another tool left incomplete is rejected by name until it is marked as rolled back', async () => {
  const { parsed, rows } = await emptyDatabase()
  await migratePostgres(parsed, WAIT_MS)
  await rows(`INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ('1', '', '9001_half')`)
  await expect(migratePostgres(parsed, WAIT_MS)).rejects.toThrow('Migration 9001_half failed halfway')
  await rows(`UPDATE _prisma_migrations SET rolled_back_at = now() WHERE id = '1'`)
  expect(await migratePostgres(parsed, WAIT_MS)).toEqual([])
})

test("another program's database is rejected and not modified", async () => {
  const { parsed, rows } = await emptyDatabase()
  await rows('CREATE TABLE invoices (id int)')
  await expect(migratePostgres(parsed, WAIT_MS)).rejects.toThrow(
    `The database ${parsed.label} has tables (invoices) but no migration history: it belongs to another program.`,
  )
  expect(await rows(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`)).toEqual([{ tablename: 'invoices' }])
})

test('a database with another encoding is rejected', async () => {
  const { parsed } = await emptyDatabase(`TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'`)
  await expect(migratePostgres(parsed, WAIT_MS)).rejects.toThrow(
    `The database ${parsed.label} has the encoding LATIN1. Use a database with the encoding UTF8.`,
  )
})

test('a migration keeps existing records', async () => {
  await using folder = await temporaryFolder()
  const { parsed, url, rows } = await emptyDatabase()
  const database = await createDatabase(url)
  await database.write((tx) => insertOne(tx.users, newUser('ada')))
  await database.close()
  const history = await copyHistory('postgresql', folder.path)
  await addMigration(history, '9001_phone', 'ALTER TABLE users ADD COLUMN phone TEXT;')
  await migratePostgres(parsed, WAIT_MS, { folder: history })
  expect(await rows('SELECT name, phone FROM users')).toEqual([{ name: 'ada', phone: null }])
})

test('a missing database and a wrong password fail at once, with an error that omits the password', async () => {
  const { url } = await emptyDatabase()
  const missing = readPostgresUrl(url.replace(/[^/]+$/, 'nowhere'))
  await expect(migratePostgres(missing, 600_000)).rejects.toThrow(
    `The database ${missing.label} cannot be used: database "nowhere" does not exist.`,
  )
  const wrong = readPostgresUrl(url.replace('postgres@', 'with_password:hunter2@'))
  const refusal = await migratePostgres(wrong, 600_000).catch((error: Error) => error.message)
  expect(refusal).toBe(
    `The database ${wrong.label} cannot be used: password authentication failed for user "with_password".`,
  )
})

test('the error for an unreachable server names it, with a remedy', async () => {
  const url = readPostgresUrl('postgresql://app:hunter2@127.0.0.1:1/app')
  await expect(migratePostgres(url, 0)).rejects.toThrow(
    'The database postgresql://127.0.0.1:1/app cannot be reached: connect ECONNREFUSED 127.0.0.1:1. Start PostgreSQL, or correct DATABASE_URL.',
  )
})

test('a start waits for a server that is still starting', async () => {
  await using server = await startPostgres()
  await server.stop('fast')
  const migrated = migratePostgres(readPostgresUrl(server.url), 60_000)
  await server.start()
  expect(await migrated).toEqual(migrationNames('postgresql'))
})

test('while a migration waits for a lock, others read and write, and a warning names who holds the lock', async () => {
  await using folder = await temporaryFolder()
  const { url, parsed, rows } = await emptyDatabase()
  const history = await copyHistory('postgresql', folder.path)
  await migratePostgres(parsed, WAIT_MS, { folder: history })
  await addMigration(
    history,
    '9001_column',
    'ALTER TABLE items ADD COLUMN color TEXT; ALTER TABLE users ADD COLUMN color TEXT;',
  )
  const reader = new pg.Client({ connectionString: url, application_name: 'nightly report' })
  await reader.connect()
  await reader.query('BEGIN; SELECT count(*) FROM users')
  const [{ pid }] = (await reader.query('SELECT pg_backend_pid() AS pid')).rows
  const warnings: string[] = []
  const migrated = migratePostgres(parsed, WAIT_MS, {
    folder: history,
    onWarning: (message) => warnings.push(message),
  })
  await expect
    .poll(() => warnings[0], { timeout: 30_000 })
    .toMatch(
      new RegExp(
        `^migration 9001_column waits for a lock that is held by process ${pid} \\(nightly report, idle in transaction, its statement began at 20.*Z\\)$`,
      ),
    )
  // No part of the migration is kept between its attempts.
  await expect
    .poll(() =>
      rows(`SELECT count(*)::int FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'items'::regclass`),
    )
    .toEqual([{ count: 0 }])
  expect(await rows('SELECT count(*)::int FROM users')).toEqual([{ count: 0 }])
  expect(await rows(`UPDATE items SET price = 1 RETURNING id`)).toEqual([])
  expect(await rows(`SELECT column_name FROM information_schema.columns WHERE column_name = 'color'`)).toEqual([])
  await reader.query('COMMIT')
  expect(await migrated).toEqual(['9001_column'])
  expect(warnings.length).toBe(1)
  await reader.end()
})

const DATABASE = '(SELECT oid FROM pg_database WHERE datname = current_database())'
const INDEX = 'CREATE INDEX CONCURRENTLY IF NOT EXISTS "items_price_name_idx" ON "items"("price", "name");'
const STATE = `SELECT indisvalid AS valid, indisunique AS unique FROM pg_index
  WHERE indexrelid = to_regclass('items_price_name_idx')`

test('while an index is built, others write, and a start that needs no migration does not wait', async () => {
  await using folder = await temporaryFolder()
  const { url, parsed, rows } = await emptyDatabase()
  const history = await copyHistory('postgresql', folder.path)
  await migratePostgres(parsed, WAIT_MS, { folder: history })
  await addMigration(history, '9001_compatible_index', INDEX)
  const writer = new pg.Client({ connectionString: url })
  await writer.connect()
  await writer.query(`BEGIN; INSERT INTO items (name, price) VALUES ('Rug', 80)`)
  const start = () => migratePostgres(parsed, WAIT_MS, { folder: history })
  const migrated = Promise.all([start(), start()])
  await expect.poll(() => rows(STATE), { timeout: 30_000 }).toEqual([{ valid: false, unique: false }])
  await rows(`INSERT INTO items (name, price) VALUES ('Lamp', 20)`)
  expect(await migratePostgres(parsed, WAIT_MS)).toEqual([])
  await writer.query('COMMIT')
  await writer.end()
  expect((await migrated).flat()).toEqual(['9001_compatible_index'])
  expect(await rows(STATE)).toEqual([{ valid: true, unique: false }])
})

test('the next start waits for the index that PostgreSQL still builds for a killed process', async () => {
  await using folder = await temporaryFolder()
  const { url, parsed, rows } = await emptyDatabase()
  const history = await copyHistory('postgresql', folder.path)
  await migratePostgres(parsed, WAIT_MS, { folder: history })
  await addMigration(history, '9001_compatible_index', INDEX)
  const writer = new pg.Client({ connectionString: url })
  await writer.connect()
  await writer.query(`BEGIN; INSERT INTO items (name, price) VALUES ('Rug', 80)`)
  const orphan = rows(INDEX)
  await expect.poll(() => rows(STATE), { timeout: 30_000 }).toEqual([{ valid: false, unique: false }])
  const oid = await rows(`SELECT to_regclass('items_price_name_idx')::oid`)
  const migrated = migratePostgres(parsed, WAIT_MS, { folder: history })
  await expect
    .poll(() => rows(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = ${DATABASE}`), {
      // It has the lock for some milliseconds each second.
      interval: 2,
      timeout: 30_000,
    })
    .toHaveLength(1)
  await writer.query('COMMIT')
  await writer.end()
  await orphan
  expect(await migrated).toEqual(['9001_compatible_index'])
  expect(await rows(`SELECT to_regclass('items_price_name_idx')::oid`)).toEqual(oid)
})

test('an invalid index is built again', async () => {
  await using folder = await temporaryFolder()
  const { parsed, rows } = await emptyDatabase()
  const history = await copyHistory('postgresql', folder.path)
  await migratePostgres(parsed, WAIT_MS, { folder: history })
  await rows(`INSERT INTO items (name, price) VALUES ('Rug', 80), ('Rug', 80)`)
  await expect(rows(INDEX.replace('INDEX', 'UNIQUE INDEX'))).rejects.toThrow('could not create unique index')
  expect(await rows(STATE)).toEqual([{ valid: false, unique: true }])
  await addMigration(history, '9001_compatible_index', INDEX)
  expect(await migratePostgres(parsed, WAIT_MS, { folder: history })).toEqual(['9001_compatible_index'])
  expect(await rows(STATE)).toEqual([{ valid: true, unique: false }])
})

test('a unique index that fails leaves nothing that would refuse writes', async () => {
  await using folder = await temporaryFolder()
  const { parsed, rows } = await emptyDatabase()
  const history = await copyHistory('postgresql', folder.path)
  await migratePostgres(parsed, WAIT_MS, { folder: history })
  await rows(`INSERT INTO items (name, price) VALUES ('Rug', 80), ('Rug', 80)`)
  await addMigration(history, '9001_unique', INDEX.replace('INDEX', 'UNIQUE INDEX'))
  await expect(migratePostgres(parsed, WAIT_MS, { folder: history })).rejects.toThrow(
    'Migration 9001_unique failed and was rolled back: could not create unique index "items_price_name_idx".',
  )
  expect(await rows(STATE)).toEqual([])
})

test('a search index is built with pg_trgm in any schema, and skipped without it', async () => {
  await using folder = await temporaryFolder()
  const { parsed, rows } = await emptyDatabase()
  const history = await copyHistory('postgresql', folder.path)
  await migratePostgres(parsed, WAIT_MS, { folder: history })
  const valid = () => rows(`SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('items_search_idx')`)
  await rows('DROP INDEX items_search_idx; CREATE SCHEMA elsewhere; ALTER EXTENSION pg_trgm SET SCHEMA elsewhere')
  const index = `CREATE INDEX CONCURRENTLY IF NOT EXISTS "items_search_idx" ON "items" USING gin ((' ' || "name_key") gin_trgm_ops);`
  await addMigration(history, '9001_search', index)
  await migratePostgres(parsed, WAIT_MS, { folder: history })
  expect(await valid()).toEqual([{ indisvalid: true }])
  await rows('DROP EXTENSION pg_trgm CASCADE')
  await addMigration(history, '9002_search', index)
  expect(await migratePostgres(parsed, WAIT_MS, { folder: history })).toEqual(['9002_search'])
  expect(await valid()).toEqual([])
})

test('prisma migrate deploy builds such an index too', async () => {
  const { parsed, url, rows } = await emptyDatabase()
  await migratePostgres(parsed, WAIT_MS)
  const migrationsList = await readMigrationList('postgresql')
  const content = { tag: 'ok', value: INDEX } as const
  migrationsList.migrationDirectories.push({
    path: '9001_compatible_index',
    migrationFile: { path: 'migration.sql', content },
  })
  await using engine = await openSchemaEngine('postgresql', url)
  await engine.applyMigrations({ migrationsList, filters: filtersFor('postgresql') })
  expect(await rows(STATE)).toEqual([{ valid: true, unique: false }])
  expect(await migratePostgres(parsed, WAIT_MS)).toEqual([])
})
