import type { Client } from '@resource/client'
import type { Adjustment } from './adjustment.ts'
import type { Field } from './fields.ts'
import { parseFilters } from './filters.ts'
import { isConfirmed, type PreviewOptions, type Shown, shown } from './preview.ts'
import { answer, answerRecord, answerRecords } from './print-records.ts'
import { wordsOf } from './procedure-command.ts'
import { call, countOf, ID, IF_VERSION, type JsonObject, KEY, type Noun } from './procedures.ts'
import { isInteractive } from './prompt.ts'
import { checkDone, readEach, readMatching, writeEach } from './records.ts'
import { tableColumns } from './table-columns.ts'

export type Action = 'update' | 'delete'

/** The options of a command that changes records. */
export interface ChangeOptions extends PreviewOptions {
  filter?: string[]
  search?: string
  all?: boolean
  add?: string
  multiply?: string
}

/** What a command changes, and how. */
export interface Change {
  client: Client
  noun: Noun
  action: Action
  changes: JsonObject
  options: ChangeOptions
}

/** A set of records to change, previewed by the service. */
interface Batch extends Shown, JsonObject {
  id: unknown
}

/** Changes a number of the records with these ids, or of all that match, after a preview. Records without the number stay. */
export async function adjustRecords(change: Change, { field, next, text }: Adjustment, ids: unknown[]): Promise<void> {
  const { client, noun, options } = change
  const filters = parseFilters(noun, options.filter ?? [], options.search)
  const found = await (ids.length > 0 ? readEach(client, noun, ids, options) : readMatching(client, noun, filters))
  checkDone({ records: [], failed: found.failed })
  const records = found.records.filter((record) => typeof record[field] === 'number')
  const adjusted = (record: JsonObject) => ({ [field]: next(record[field] as number) })
  // Ids are confirmed by naming them.
  const asked = { ...options, yes: options.yes || ids.length > 0 }
  const question = `Update ${countOf(noun, records.length)}: ${text}?`
  if (!(await isConfirmed(noun, asked, shown(records), adjusted, question))) return
  // Only as it was read.
  const rows = records.map((record) => ({ [ID]: record[ID], [IF_VERSION]: record.version, ...adjusted(record) }))
  const done = await writeEach(client, noun, 'updateMany', rows)
  const counts = { updated: done.records.length, failed: done.failed.length }
  await answer(counts, options, () => `${countOf(noun, counts.updated)} updated\n`)
  checkDone(done)
}

/** Changes all records that match the filters, exactly those of the preview. */
export async function changeMatching(change: Change): Promise<void> {
  const { client, noun, action, changes, options } = change
  const filter = parseFilters(noun, options.filter ?? [], options.search)
  const input = { action, filter, ...(action === 'update' && { changes }) }
  const batch = (await call(client, noun, 'createBatch', input)) as Batch
  const counted = countOf(noun, batch.count)
  const question = action === 'delete' ? `Delete ${counted}?` : `Update ${counted}: ${wordsOf(changes)}?`
  if (!(await isConfirmed(noun, options, batch, () => changes, question))) return
  const applied = await call(client, noun, 'applyBatch', { batch_id: batch.id, status: 'applied' })
  await answer(applied, options, () => `${counted} ${action}d\n`)
}

/** Shows the records with these ids and what would change. */
export async function previewEach({ client, noun, action, changes, options }: Change, ids: unknown[]): Promise<void> {
  const found = await readEach(client, noun, ids, options)
  const { [IF_VERSION]: _, [KEY]: __, ...set } = changes
  const facts = { action, ...shown(found.records), ...(action === 'update' && { changes: set }) }
  if (facts.count > 0) await isConfirmed(noun, options, facts, () => set, '')
  checkDone(found)
}

/** Changes the records with these ids. A deletion asks on a terminal. */
export async function changeEach(change: Change, inputs: JsonObject[], fields: Field[]): Promise<void> {
  const { client, noun, action, options } = change
  const { [KEY]: key } = change.changes
  let rows = inputs.map(({ [KEY]: _, ...row }) => row)
  if (action === 'delete' && !options.yes && isInteractive()) {
    const found = await readEach(
      client,
      noun,
      rows.map(({ [ID]: id }) => id),
      options,
    )
    checkDone({ records: [], failed: found.failed })
    await isConfirmed(noun, options, shown(found.records), () => ({}), `Delete ${countOf(noun, rows.length)}?`)
    // Deletes what was shown, and no later version of it.
    const isVersioned = fields.some(({ name }) => name === IF_VERSION)
    if (isVersioned) rows = found.records.map(({ [ID]: id, version }) => ({ [ID]: id, [IF_VERSION]: version }))
  }
  const [row] = rows
  if (rows.length === 1 && row !== undefined) {
    const output = await call(client, noun, action, { ...row, ...(key !== undefined && { [KEY]: key }) })
    return action === 'update' ? answerRecord(output, options) : answer(output, options, () => `${output.message}\n`)
  }
  const done = await writeEach(client, noun, `${action}Many`, rows, key)
  const { records } = done
  if (records.length > 0) {
    await (action === 'update'
      ? answerRecords(records, tableColumns(noun), options)
      : answer(records, options, () => `${countOf(noun, records.length)} deleted\n`))
  }
  checkDone(done)
}
