import { resolve } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { Followed } from '@resource/client'
import { z } from 'zod'
import { Failure, invalid } from './failures.ts'
import { fieldsOf } from './fields.ts'
import { ID, proceduresOf, recordSchema } from './procedures.ts'

/** The columns of a table, and its SQL. */
export type Tables = Map<Followed, ReturnType<typeof tableOf>>

/** Runs a unit of work, which moves the position of the copy. @throws Failure if another process has moved it */
export async function transaction(
  db: DatabaseSync,
  from: string | undefined,
  to: string,
  work: () => Promise<void> | void,
) {
  db.exec('BEGIN IMMEDIATE')
  try {
    await work()
    const { changes } = db.prepare('UPDATE mirror SET cursor = ? WHERE cursor IS ?').run(to, from ?? null)
    if (changes === 0) throw new Failure('conflict', 'Another process writes to this copy')
    db.exec('COMMIT')
  } catch (error) {
    db.exec('ROLLBACK')
    throw error
  }
}

/** The position in the feed of changes that the copy has; none before it is complete. */
export function cursorOf(db: DatabaseSync): string | undefined {
  return (db.prepare('SELECT cursor FROM mirror').get()?.cursor as string | null) ?? undefined
}

/** The tables of records; none before the first copy. */
export function copiedTables(db: DatabaseSync) {
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'mirror'").all()
  return tables.map(({ name }) => String(name))
}

/**
 * Opens a copy of the records of a service; a copy with other columns begins anew.
 *
 * @throws Failure if the file is of another program or another service
 */
export function openCopy(file: string, source: string, layout: string): DatabaseSync {
  const path = resolve(file)
  let db: DatabaseSync | undefined
  try {
    // A reader of the copy may hold up a write.
    db = new DatabaseSync(path, { timeout: 60_000 })
    const tables = db.prepare('SELECT name FROM sqlite_schema').all()
    if (tables.length > 0 && tables.every(({ name }) => name !== 'mirror')) throw new Error('is not a copy')
    db.exec(`PRAGMA journal_mode = WAL;
      CREATE TABLE IF NOT EXISTS mirror (id INTEGER PRIMARY KEY, source TEXT, layout TEXT, cursor TEXT)`)
    db.prepare('INSERT OR IGNORE INTO mirror VALUES (1, ?, ?, NULL)').run(source, layout)
    const found = db.prepare('SELECT source FROM mirror').get()?.source
    if (found !== source) throw new Error(`is a copy of ${found}`)
    db.prepare('UPDATE mirror SET layout = ?1, cursor = NULL WHERE layout <> ?1').run(layout)
    return db
  } catch (error) {
    db?.close()
    throw invalid(`${path}: ${(error as Error).message}; name another file`)
  }
}

const TYPES = { number: 'NUMERIC', boolean: 'NUMERIC', text: 'TEXT', json: 'TEXT' }

/** The table of a resource. @param only the fields to copy; the id is always copied */
export function tableOf(noun: Followed, only?: string[]) {
  const { list } = proceduresOf(noun)
  const all = fieldsOf((list && recordSchema(noun, list.output)) ?? z.object())
  const fields = all.filter(({ name }) => name === ID || only === undefined || only.includes(name))
  const columns = fields.map(({ name, kind }) => `"${name}" ${name === ID ? 'INTEGER PRIMARY KEY' : TYPES[kind]}`)
  return { columns: fields.map(({ name }) => name), sql: `CREATE TABLE "${noun}" (${columns.join(', ')});` }
}

/** The statements that create the tables. */
export function sqlOf(tables: Tables): string {
  return [...tables.values()].map(({ sql }) => sql).join('')
}

/** A value of a record as SQLite stores it. */
export function toSql(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : ((value ?? null) as SQLInputValue)
}
