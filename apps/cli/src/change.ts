import type { Client } from '@resource/client'
import { shapeOf } from '@resource/contract/schema'
import { Command, Option } from 'commander'
import type { z } from 'zod'
import { type Adjustment, adjustmentOf, isAdjustable } from './adjustment.ts'
import { Failure, invalid, invalidFields } from './failures.ts'
import { type Field, fieldsOf, parseValue } from './fields.ts'
import { filterFields, isSearchable, parseFilters } from './filters.ts'
import { type Globals, withClient } from './globals.ts'
import { examplesOf, exampleText } from './help.ts'
import { addFieldOptions, checkInput, repeated } from './options.ts'
import { answer, answerRecord, answerRecords, checkFields } from './print-records.ts'
import { descriptionOf, notConfirmed, wordsOf } from './procedure-command.ts'
import {
  call,
  countOf,
  ID,
  IF_VERSION,
  type JsonObject,
  KEY,
  type Noun,
  type Procedure,
  proceduresOf,
} from './procedures.ts'
import { confirm, isInteractive } from './prompt.ts'
import { checkDone, readEach, readMatching, writeEach } from './records.ts'
import { cell, table } from './table.ts'
import { recordFields, tableColumns } from './table-columns.ts'

const SAMPLE = 5

type Action = 'update' | 'delete'

interface Options extends Globals {
  yes: boolean
  filter?: string[]
  search?: string
  all?: boolean
  dryRun?: boolean
  add?: string
  multiply?: string
}

interface Sampled {
  count: number
  sample: JsonObject[]
}

/** A set of records to change, previewed by the service. */
interface Batch extends Sampled {
  id: unknown
}

/** The command that updates or deletes records: by their ids, or all that match filters. */
export function changeCommand(noun: Noun, action: Action, procedure: Procedure): Command {
  const fields = fieldsOf(procedure.input)
  const byFilter = proceduresOf(noun).createBatch !== undefined
  const several = proceduresOf(noun)[`${action}Many`] !== undefined
  const command = new Command(action)
    .summary(procedure.meta.openapi.summary ?? '')
    .description(
      `${descriptionOf(procedure)} Takes ${several ? 'one or more ids' : 'an id'}${byFilter ? ', or filters: then it shows what matches before it asks.' : '.'}`,
    )
    .argument(byFilter ? `[${ID}...]` : several ? `<${ID}...>` : `<${ID}>`, 'ids of the records')
  const readOptions = addFieldOptions(
    command,
    fields.filter(({ name }) => name !== ID),
  )
  if (byFilter) addFilterOptions(command, noun)
  if (action === 'update' && byFilter && fields.some(isAdjustable)) {
    command
      .option('--add <field=amount>', 'add an amount to a number of each record, such as price=5 or price=-5')
      .option('--multiply <field=factor>', 'multiply a number of each record, such as price=1.1 for 10 % more')
  }
  command
    .option('--yes', 'skip the confirmation', false)
    .addHelpText('after', exampleText(examplesOf(noun, action, fields, byFilter ? filterFields(noun) : [])))

  return command.action(async (...args: unknown[]) => {
    const options = command.optsWithGlobals<Options>()
    const texts = [args[0] as string | string[]].flat().flatMap((text) => text.split(','))
    const isByFilter = options.filter !== undefined || options.search !== undefined || options.all === true
    if (isByFilter === texts.length > 0)
      throw invalid(byFilter ? 'Either ids, or --filter, --search or --all is required' : 'ids are required')
    const changes = await readOptions()
    checkFields(options, recordFields(noun))
    const adjustment = adjustmentOf(options, fields)
    if (adjustment !== undefined && Object.keys(changes).length > 0)
      throw invalid('--add, --multiply: cannot be combined with other changes')
    const ids = [...new Set(texts)].map((text) => parseValue(fields.find(({ name }) => name === ID) as Field, text))
    if (adjustment === undefined && action === 'update') checkChanges(changes, fields)
    if (isByFilter) checkSettable(noun, changes, fields)
    const inputs = ids.map((id) => ({ [ID]: id, ...changes }))
    for (const input of adjustment === undefined ? inputs : []) checkInput(procedure, input, fields)
    if (ids.length > 1 && IF_VERSION in changes) throw invalid('--if-version: is for one id')
    const work = (client: Client) => {
      const change = { client, noun, action, changes, options }
      if (adjustment !== undefined) return adjustRecords(change, adjustment, ids)
      if (isByFilter) return changeMatching(change)
      return options.dryRun ? previewEach(change, ids) : changeEach(change, inputs, fields)
    }
    await withClient(options, fields, work, isByFilter)
  })
}

/** What a command changes, and how. */
interface Change {
  client: Client
  noun: Noun
  action: Action
  changes: JsonObject
  options: Options
}

function addFilterOptions(command: Command, noun: Noun): void {
  const names = filterFields(noun).flatMap(({ name }) => (name === 'q' ? [] : [name]))
  command.addOption(
    new Option('--filter <field=value>', `all records that match; repeatable. Fields: ${names.join(', ')}`).argParser(
      repeated,
    ),
  )
  if (isSearchable(noun)) command.option('--search <text>', 'all records that contain every word')
  command.option('--all', 'all records').option('--dry-run', 'show the records and change nothing', false)
}

/** Changes a number of the records with these ids, or of all that match, after a preview. Records without the number stay. */
async function adjustRecords(change: Change, { field, next, text }: Adjustment, ids: unknown[]): Promise<void> {
  const { client, noun, options } = change
  const filters = parseFilters(noun, options.filter ?? [], options.search)
  const found = await (ids.length > 0 ? readEach(client, noun, ids, options) : readMatching(client, noun, filters))
  checkDone({ records: [], failed: found.failed })
  const records = found.records.filter((record) => typeof record[field] === 'number')
  const shown = sampled(records)
  const adjusted = (record: JsonObject) => ({ [field]: next(record[field] as number) })
  const lines = preview(noun, shown, options.fields, adjusted)
  if (records.length === 0 || options.dryRun) return answer(shown, options, () => lines + matchText(noun, shown))
  if (ids.length === 0) await confirmAll(change, shown, lines, `Update ${countOf(noun, records.length)}: ${text}?`)
  // Only as it was read.
  const rows = records.map((record) => ({ [ID]: record[ID], [IF_VERSION]: record.version, ...adjusted(record) }))
  const done = await writeEach(client, noun, 'updateMany', rows)
  const counts = { updated: done.records.length, failed: done.failed.length }
  await answer(counts, options, () => `${countOf(noun, counts.updated)} updated\n`)
  checkDone(done)
}

/** Shows the records and asks; without a terminal, `--yes` is required. */
async function confirmAll({ options }: Change, { count, sample }: Sampled, lines: string, what: string): Promise<void> {
  if (options.yes) return
  if (!isInteractive()) throw new Failure('invalid', `${lines}${what} Add --yes to confirm.`, { count, sample })
  process.stderr.write(lines)
  if (!(await confirm(what))) throw notConfirmed()
}

/** @throws Failure if there is nothing to change */
function checkChanges(changes: JsonObject, fields: Field[]): void {
  const changeable = fields.filter(({ name }) => ![ID, IF_VERSION, KEY].includes(name))
  if (changeable.some(({ name }) => name in changes)) return
  throw invalid(`A field to change is required: ${changeable.map(({ flag }) => flag).join(', ')}`)
}

/** @throws Failure for fields that a batch cannot set, such as unique ones */
function checkSettable(noun: Noun, changes: JsonObject, fields: Field[]): void {
  const { changes: schema } = proceduresOf(noun).createBatch?.input.shape ?? {}
  const settable = schema === undefined ? {} : shapeOf(schema as z.ZodType)
  const errors = Object.keys(changes)
    .filter((name) => !(name in settable))
    .map((field) => ({ field, message: 'requires ids instead of --filter, --search or --all' }))
  if (errors.length > 0) throw invalidFields(errors, fields)
}

/** Changes all records that match the filters, exactly those of the preview. */
async function changeMatching(change: Change): Promise<void> {
  const { client, noun, action, changes, options } = change
  const filter = parseFilters(noun, options.filter ?? [], options.search)
  const input = { action, filter, ...(action === 'update' && { changes }) }
  const batch = (await call(client, noun, 'createBatch', input)) as Batch & JsonObject
  const counted = countOf(noun, batch.count)
  const lines = preview(noun, batch, options.fields, () => changes)
  if (batch.count === 0 || options.dryRun) {
    return answer(batch, options, () => (batch.count === 0 ? '' : lines) + matchText(noun, batch))
  }
  const what = action === 'delete' ? `Delete ${counted}?` : `Update ${counted}: ${wordsOf(changes)}?`
  await confirmAll(change, batch, lines, what)
  const applied = await call(client, noun, 'applyBatch', { batch_id: batch.id, status: 'applied' })
  await answer(applied, options, () => `${counted} ${action}d\n`)
}

/** The records, with `24.5 → 20` where they change. */
function preview(
  noun: Noun,
  { count, sample }: Sampled,
  fields?: string[],
  changes: (record: JsonObject) => JsonObject = () => ({}),
): string {
  const known = [...new Set([...tableColumns(noun), ...sample.flatMap((record) => Object.keys(changes(record)))])]
  const columns = fields ?? known.filter((name) => sample.some((record) => name in record))
  const changed = (record: JsonObject) =>
    Object.entries(changes(record)).flatMap(([name, value]) =>
      name in record && record[name] !== value ? [[name, `${cell(record[name])} → ${cell(value)}`]] : [],
    )
  const rows = sample.map((record) => ({ ...record, ...Object.fromEntries(changed(record)) }))
  return `${table(columns, rows)}${count > sample.length ? `… ${count - sample.length} more\n` : ''}`
}

/** `1 item matches`, `2 items match` */
function matchText(noun: Noun, { count }: Sampled): string {
  return `${countOf(noun, count)} ${count === 1 ? 'matches' : 'match'}\n`
}

function sampled(records: JsonObject[]): Sampled {
  return { count: records.length, sample: records.slice(0, SAMPLE) }
}

/** Shows the records with these ids and what would change. */
async function previewEach({ client, noun, action, changes, options }: Change, ids: unknown[]): Promise<void> {
  const found = await readEach(client, noun, ids, options)
  const { [IF_VERSION]: _, [KEY]: __, ...set } = changes
  const shown = sampled(found.records)
  if (shown.count > 0) {
    const text = () => preview(noun, shown, options.fields, () => set) + matchText(noun, shown)
    await answer({ action, ...shown, ...(action === 'update' && { changes: set }) }, options, text)
  }
  checkDone(found)
}

/** Changes the records with these ids. A deletion asks on a terminal. */
async function changeEach(change: Change, inputs: JsonObject[], fields: Field[]): Promise<void> {
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
    process.stderr.write(preview(noun, sampled(found.records)))
    if (!(await confirm(`Delete ${countOf(noun, rows.length)}?`))) throw notConfirmed()
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
