import { resolve } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { type Client, type Followed, GoneError } from '@resource/client'
import { Command } from 'commander'
import { z } from 'zod'
import { type ChangesOptions, changePages, followed, PATIENT, resourcesOption } from './changes.ts'
import { Failure, invalid } from './failures.ts'
import { fieldsOf } from './fields.ts'
import { SECOND_MS } from './globals.ts'
import { exampleText } from './help.ts'
import { onInterrupt } from './interrupt.ts'
import { targetOf, withClient } from './open-client.ts'
import { log } from './output.ts'
import { answer, checkFields } from './print-records.ts'
import { ID, type JsonObject, pagesOf, proceduresOf, recordSchema } from './procedures.ts'

/** The columns of a table, and its SQL. */
type Tables = Map<Followed, ReturnType<typeof tableOf>>

/** The command that copies records to a SQLite file. */
export function mirrorCommand(): Command {
  const command = new Command('mirror')
    .summary('Copy the records to a SQLite file')
    .description(
      'Copies the records to a SQLite file, with a table for each resource. Run again, it fetches only what has changed since.',
    )
    .argument('<file>', 'the copy; it is created if it does not exist')
    .option('--follow', 'keep the copy up to date, until Ctrl-C', false)
    .addOption(resourcesOption())
    .addHelpText('after', exampleText(['mirror copy.db', 'mirror prices.db --resources items --follow']))
  return command.action(async (file: string) => {
    const options = command.optsWithGlobals<ChangesOptions>()
    const { resources = followed, fields } = options
    checkFields(options, [...new Set(resources.flatMap((noun) => tableOf(noun).columns))])
    const tables: Tables = new Map(resources.map((noun) => [noun, tableOf(noun, fields)]))
    using db = openCopy(file, await targetOf(options), sqlOf(tables))
    using interrupt = onInterrupt('')
    await withClient(options, [], (client) => update(db, tables, client, options, interrupt.stop))
    const counts = [...tables.keys()].map((noun) => [noun, db.prepare(`SELECT count(*) AS n FROM "${noun}"`).get()?.n])
    const text = () => `${counts.map(([noun, count]) => `${count} ${noun}`).join(', ')}\n`
    await answer(Object.fromEntries(counts), options, text)
  })
}

/** Copies the records unless that has been done, and applies the changes since, in a transaction for each page. */
async function update(
  db: DatabaseSync,
  tables: Tables,
  client: Client,
  { follow, timeout }: ChangesOptions,
  signal: AbortSignal,
) {
  const resources = [...tables.keys()]
  const calls = { signal, ...(follow ? PATIENT : { retryForMs: timeout * SECOND_MS }) }
  const store = (noun: Followed, records: JsonObject[]) => {
    const { columns = [] } = tables.get(noun) ?? {}
    const insert = db.prepare(`INSERT OR REPLACE INTO "${noun}" VALUES (${columns.map(() => '?').join()})`)
    for (const record of records) insert.run(...columns.map((name) => toSql(record[name])))
  }
  for (;;) {
    // A copy that exists is continued once the service can be reached; the first call for a new one fails soon.
    const isPatient = follow && copiedTables(db).length > 0
    try {
      let after = cursorOf(db)
      if (after === undefined) {
        // From before the first list is read: changes that a later page has already are applied once more.
        const { cursor } = await client.changes.list.query({}, isPatient ? calls : { signal })
        await transaction(db, undefined, cursor, async () => {
          for (const name of copiedTables(db)) db.exec(`DROP TABLE "${name}"`)
          db.exec(sqlOf(tables))
          for (const noun of resources) {
            log(`Copying ${noun}`)
            for await (const page of pagesOf(client, noun, {}, calls)) store(noun, page[noun] as JsonObject[])
          }
        })
        after = cursor
      }
      for await (const { changes, cursor } of changePages(client, { after, resources, follow, isPatient }, signal)) {
        if (cursor === after) continue
        await transaction(db, after, cursor, () => {
          for (const { resource, record_id, record } of changes) {
            if (record !== null) store(resource, [{ ...record }])
            else db.prepare(`DELETE FROM "${resource}" WHERE id = ?`).run(record_id)
          }
        })
        after = cursor
      }
      return
    } catch (error) {
      if (!(error instanceof GoneError)) throw error
      log('The changes since the last copy are no longer available')
      db.exec('UPDATE mirror SET cursor = NULL')
    }
  }
}

async function transaction(db: DatabaseSync, from: string | undefined, to: string, work: () => Promise<void> | void) {
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

function cursorOf(db: DatabaseSync): string | undefined {
  return (db.prepare('SELECT cursor FROM mirror').get()?.cursor as string | null) ?? undefined
}

/** The tables of records; none before the first copy. */
function copiedTables(db: DatabaseSync) {
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'mirror'").all()
  return tables.map(({ name }) => String(name))
}

/**
 * Opens a copy of the records of a service; a copy with other columns begins anew.
 *
 * @throws Failure if the file is of another program or another service
 */
function openCopy(file: string, source: string, layout: string): DatabaseSync {
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

/** @param only the fields to copy; the id is always copied */
function tableOf(noun: Followed, only?: string[]) {
  const { list } = proceduresOf(noun)
  const all = fieldsOf((list && recordSchema(noun, list.output)) ?? z.object())
  const fields = all.filter(({ name }) => name === ID || only === undefined || only.includes(name))
  const columns = fields.map(({ name, kind }) => `"${name}" ${name === ID ? 'INTEGER PRIMARY KEY' : TYPES[kind]}`)
  return { columns: fields.map(({ name }) => name), sql: `CREATE TABLE "${noun}" (${columns.join(', ')});` }
}

function sqlOf(tables: Tables): string {
  return [...tables.values()].map(({ sql }) => sql).join('')
}

function toSql(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : ((value ?? null) as SQLInputValue)
}
