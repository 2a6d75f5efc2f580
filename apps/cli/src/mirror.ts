import type { DatabaseSync } from 'node:sqlite'
import { type Client, type Followed, GoneError } from '@resource/client'
import { Command } from 'commander'
import { type ChangesOptions, changePages, followed, PATIENT, resourcesOption } from './changes.ts'
import { SECOND_MS } from './globals.ts'
import { exampleText } from './help.ts'
import { onInterrupt } from './interrupt.ts'
import { copiedTables, cursorOf, openCopy, sqlOf, type Tables, tableOf, toSql, transaction } from './mirror-file.ts'
import { targetOf, withClient } from './open-client.ts'
import { log } from './output.ts'
import { answer, checkFields } from './print-records.ts'
import { type JsonObject, pagesOf } from './procedures.ts'

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
