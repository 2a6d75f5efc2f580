import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { backUp, check, restore } from './backup.ts'
import { migrate } from './migrate.ts'
import { temporaryFolder } from './test-database.ts'

const insertion = `INSERT INTO items (name, price) VALUES ('Rug', 80)`

/** A database of some 3,500 pages, which takes a few pieces to copy. */
async function largeDatabase(file: string): Promise<Sqlite.Database> {
  await migrate(file)
  const database = new Sqlite(file, { timeout: 0 })
  database.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
    INSERT INTO items (name, price) SELECT 'Item ' || i, i FROM n`)
  return database
}

test('writes between the pieces of a backup neither get into it nor make it begin anew', async () => {
  await using folder = await temporaryFolder()
  const database = await largeDatabase(folder.file)
  const shares: number[] = []
  const copy = `${folder.file}.copy`
  await backUp(`file:${folder.file}`, copy, {
    onProgress(done, total) {
      shares.push(done / total)
      database.exec(insertion)
    },
  })
  database.close()
  expect(shares.length).toBeGreaterThan(2)
  expect(shares).toEqual(shares.toSorted((a, b) => a - b))
  expect(check(`file:${copy}`)).toMatchObject({ damage: [], mismatch: null, rows: { items: 100_000 } })
  expect(check(`file:${folder.file}`).rows.items).toBe(100_000 + shares.length)
})

test('who opens the database during a restore can write nothing that would be lost with the old file', async () => {
  await using folder = await temporaryFolder()
  const url = `file:${folder.file}`
  const copy = `${folder.file}.copy`
  const database = await largeDatabase(folder.file)
  await backUp(url, copy)
  database.close()
  const late = new Sqlite(folder.file, { timeout: 0 })
  const codes: string[] = []
  const attempt = (sql: string) => {
    try {
      late.exec(sql)
    } catch (error) {
      codes.push((error as { code: string }).code)
    }
  }
  await restore(copy, url, { replace: true, onProgress: () => codes.length === 0 && attempt(insertion) })
  attempt('PRAGMA journal_mode = WAL')
  attempt(insertion)
  late.close()
  expect(codes).toEqual(['SQLITE_BUSY', 'SQLITE_READONLY_DBMOVED', 'SQLITE_READONLY_DBMOVED'])
  expect(check(url).rows.items).toBe(100_000)
})

test('a backup or restore that is broken off leaves everything as it was', async () => {
  await using folder = await temporaryFolder()
  const url = `file:${folder.file}`
  const copy = `${folder.file}.copy`
  const database = await largeDatabase(folder.file)
  await backUp(url, copy)
  database.exec(insertion)
  const stop = () => {
    throw new Error('enough')
  }
  await expect(backUp(url, copy, { replace: true, onProgress: stop })).rejects.toThrow('enough')
  database.close()
  await expect(restore(copy, url, { replace: true, onProgress: stop })).rejects.toThrow('enough')
  expect((await readdir(dirname(folder.file))).sort()).toEqual(['test.db', 'test.db.copy'])
  expect(check(`file:${copy}`).rows.items).toBe(100_000)
  expect(check(url).rows.items).toBe(100_001)
})

test('a row that refers to one that does not exist is damage', async () => {
  await using folder = await temporaryFolder()
  await migrate(folder.file)
  const database = new Sqlite(folder.file)
  database.exec(`PRAGMA foreign_keys = OFF;
    CREATE TABLE parts (id INTEGER PRIMARY KEY, item INTEGER REFERENCES items (id));
    INSERT INTO parts VALUES (1, 7), (2, 8)`)
  database.close()
  expect(check(`file:${folder.file}`).damage).toEqual(['2 rows of parts refer to rows of items that do not exist'])
})

test('a database without the newest migration is sound, and what the next start will apply is named', async () => {
  await using folder = await temporaryFolder()
  await migrate(folder.file)
  const database = new Sqlite(folder.file)
  database.exec(`DELETE FROM _prisma_migrations WHERE migration_name = '0001_init'`)
  database.close()
  expect(check(`file:${folder.file}`)).toMatchObject({ damage: [], mismatch: null, pending: ['0001_init'] })
})
