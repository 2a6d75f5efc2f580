import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { type Change, type Client, type Followed, GoneError } from '@resource/client'
import { Command } from 'commander'
import { z } from 'zod'
import { type ChangesOptions, changePages, followed, PATIENT, resourcesOption } from './changes.ts'
import { Failure, invalid } from './failures.ts'
import { fieldsOf } from './fields.ts'
import { exampleText } from './help.ts'
import { onInterrupt } from './interrupt.ts'
import { targetOf, withClient } from './open-client.ts'
import { log } from './output.ts'
import { answer } from './print-records.ts'
import { ID, type JsonObject, pagesOf, proceduresOf, recordSchema } from './procedures.ts'

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
    using mirror = openMirror(file, await targetOf(options), options.resources ?? followed)
    using interrupt = onInterrupt('')
    await withClient(options, [], (client) => keep(mirror, client, options, interrupt.stop), true)
    const counts = mirror.counts()
    const text = () =>
      `${Object.entries(counts)
        .map(([noun, count]) => `${count} ${noun}`)
        .join(', ')}\n`
    await answer(counts, options, text)
  })
}

type Mirror = ReturnType<typeof openMirror>

/** Copies the records if that has not been done, and applies the changes since. */
async function keep(mirror: Mirror, client: Client, options: ChangesOptions, signal: AbortSignal): Promise<void> {
  const { follow } = options
  const resources = mirror.nouns
  for (;;) {
    try {
      let after = mirror.cursor()
      if (after === undefined) {
        // A position before the first list is read: the changes after it repeat what a later page has.
        after = (await client.changes.list.query({}, { signal, ...(follow && PATIENT) })).cursor
        await mirror.replace(after, async (store) => {
          for (const noun of resources) {
            log(`Copying ${noun}`)
            for await (const page of pagesOf(client, noun, {}, { signal, ...(follow && PATIENT) })) {
              store(noun, page[noun] as JsonObject[])
            }
          }
        })
      }
      for await (const { changes, cursor } of changePages(client, { after, resources, follow }, signal)) {
        if (cursor !== mirror.cursor()) await mirror.apply(changes, cursor)
      }
      return
    } catch (error) {
      if (!(error instanceof GoneError)) throw error
      log('The changes since the last copy are no longer available')
      mirror.forget()
    }
  }
}

/**
 * Opens a SQLite file with a copy of the records of a service.
 *
 * @throws Failure if the file is of another program or another service
 */
function openMirror(file: string, source: string, nouns: Followed[]) {
  const columns = new Map(nouns.map((noun) => [noun, columnsOf(noun)]))
  const layout = JSON.stringify([...columns])
  const db = openDatabase(file)
  const state = db.prepare('SELECT source, layout, cursor FROM mirror').get()
  if (state !== undefined && state.source !== source) {
    db.close()
    throw invalid(`${file}: is a copy of ${state.source}; name another file`)
  }
  let cursor = state?.layout === layout ? String(state.cursor) : undefined
  const save = (next: string) => {
    db.prepare('INSERT OR REPLACE INTO mirror VALUES (1, ?, ?, ?)').run(source, layout, next)
    cursor = next
  }
  const store = (noun: Followed, records: JsonObject[]) => {
    const names = columns.get(noun) ?? []
    const insert = db.prepare(`INSERT OR REPLACE INTO "${noun}" VALUES (${names.map(() => '?').join()})`)
    for (const record of records) insert.run(...names.map(([name]) => stored(record[name])))
  }
  const transaction = async (work: () => Promise<void> | void) => {
    db.exec('BEGIN IMMEDIATE')
    try {
      await work()
      db.exec('COMMIT')
    } catch (error) {
      db.exec('ROLLBACK')
      throw error
    }
  }
  return {
    nouns,
    cursor: () => cursor,
    forget: () => {
      cursor = undefined
    },
    /** Replaces all tables in one transaction; `copy` stores the records. */
    replace: (position: string, copy: (put: typeof store) => Promise<void>) =>
      transaction(async () => {
        const old = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'mirror'").all()
        for (const { name } of old) db.exec(`DROP TABLE "${name}"`)
        for (const [noun, names] of columns) {
          db.exec(`CREATE TABLE "${noun}" (${names.map(([name, type]) => `"${name}" ${type}`).join(', ')})`)
        }
        await copy(store)
        save(position)
      }),
    apply: (changes: Change[], next: string) =>
      transaction(() => {
        const stored = db.prepare('SELECT cursor FROM mirror').get()
        if (stored?.cursor !== cursor) throw new Failure('conflict', `${file}: another process writes to this copy`)
        for (const { resource, record_id, record } of changes) {
          if (record !== null) store(resource, [{ ...record }])
          else db.prepare(`DELETE FROM "${resource}" WHERE id = ?`).run(record_id)
        }
        save(next)
      }),
    counts: () =>
      Object.fromEntries(nouns.map((noun) => [noun, db.prepare(`SELECT count(*) AS n FROM "${noun}"`).get()?.n])),
    [Symbol.dispose]: () => db.close(),
  }
}

/** @throws Failure for a file that another program created */
function openDatabase(file: string): DatabaseSync {
  // A reader of the copy may hold up a write.
  const db = new DatabaseSync(file, { timeout: 60_000 })
  try {
    const tables = db.prepare('SELECT name FROM sqlite_schema').all()
    if (tables.length > 0 && tables.every(({ name }) => name !== 'mirror')) throw new Error('is not a copy')
    db.exec(`PRAGMA journal_mode = WAL;
      CREATE TABLE IF NOT EXISTS mirror (id INTEGER PRIMARY KEY, source TEXT, layout TEXT, cursor TEXT)`)
    return db
  } catch (error) {
    db.close()
    throw invalid(`${file}: ${(error as Error).message}; name another file`)
  }
}

/** The names and types of the columns of a table. */
function columnsOf(noun: Followed): [name: string, type: string][] {
  const { list } = proceduresOf(noun)
  const record = list && recordSchema(noun, list.output)
  return fieldsOf(record ?? z.object()).map(({ name, kind }) => [
    name,
    name === ID ? 'INTEGER PRIMARY KEY' : kind === 'number' || kind === 'boolean' ? 'NUMERIC' : 'TEXT',
  ])
}

function stored(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : ((value ?? null) as SQLInputValue)
}
