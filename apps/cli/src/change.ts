import type { Client } from '@resource/client'
import { shapeOf } from '@resource/contract/schema'
import { Command, Option } from 'commander'
import type { z } from 'zod'
import { type Adjustment, adjust, adjustmentOf, matching } from './adjust.ts'
import { answer, answerRecord, answerRecords, checkFields } from './answer.ts'
import { recordFields, tableColumns } from './columns.ts'
import { Failure, invalid, invalidFields, toFailure } from './failures.ts'
import { type Field, fieldsOf, parseValue } from './fields.ts'
import { filterFields, isSearchable, parseFilters } from './filters.ts'
import { type Globals, openClient, SECOND_MS } from './globals.ts'
import { examplesOf, exampleText } from './help.ts'
import { checkInput } from './input.ts'
import { addFieldOptions, repeated } from './options.ts'
import { confirm, isInteractive } from './prompt.ts'
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
} from './service.ts'
import { cell, table } from './table.ts'
import { descriptionOf, notConfirmed, wordsOf } from './verb.ts'

/** Calls that are sent together; the client puts them into one request. */
const CALLS_AT_ONCE = 50
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
  const command = new Command(action)
    .summary(procedure.meta.openapi.summary ?? '')
    .description(
      `${descriptionOf(procedure)} Takes one or more ids${byFilter ? ', or filters: then it shows what matches before it asks.' : '.'}`,
    )
    .argument(byFilter ? `[${ID}...]` : `<${ID}...>`, 'ids of the records')
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

  return command.action(async (texts: string[]) => {
    const options = command.optsWithGlobals<Options>()
    const { filter, search, all } = options
    const isByFilter = filter !== undefined || search !== undefined || all === true
    if (isByFilter === texts.length > 0)
      throw invalid(byFilter ? 'Either ids, or --filter, --search or --all is required' : 'ids are required')
    const changes = await readOptions()
    checkFields(options, recordFields(noun))
    try {
      const adjustment = adjustmentOf(options, fields)
      if (adjustment !== undefined) {
        if (Object.keys(changes).length > 0) throw invalid('--add, --multiply: cannot be combined with other changes')
        return await adjustRecords(noun, adjustment, texts, options, idField(fields))
      }
      if (action === 'update') checkChanges(changes, fields)
      if (isByFilter) checkSettable(noun, changes, fields)
      if (isByFilter) return await changeMatching(noun, action, changes, options)
      const ids = [...new Set(texts.flatMap((text) => text.split(',')))].map((text) =>
        parseValue(idField(fields), text),
      )
      let inputs: JsonObject[] = ids.map((id) => ({ [ID]: id, ...changes }))
      for (const input of inputs) checkInput(procedure, input, fields)
      if (ids.length > 1 && IF_VERSION in changes) throw invalid('--if-version: is for one id')
      await using open = await openClient(options)
      if (options.dryRun) return await changeEach(open.client, noun, action, inputs, options)
      if (action === 'delete' && !options.yes && isInteractive()) {
        const records = await getEach(open.client, noun, ids)
        process.stderr.write(preview(noun, sampled(records)))
        if (!(await confirm(`Delete ${countOf(noun, ids.length)}?`))) throw notConfirmed()
        // Deletes what was shown, and no later version of it.
        if (fields.some(({ name }) => name === IF_VERSION)) {
          inputs = records.map(({ [ID]: id, version }) => ({ [ID]: id, [IF_VERSION]: version, ...changes }))
        }
      }
      const [input] = inputs
      if (inputs.length > 1 || input === undefined) return await changeEach(open.client, noun, action, inputs, options)
      const output = await call(open.client, noun, action, input)
      await (action === 'update' ? answerRecord(output, options) : answer(output, options, () => `${output.message}\n`))
    } catch (error) {
      throw toFailure(error, options, fields)
    }
  })
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

function isAdjustable({ name, kind }: Field): boolean {
  return kind === 'number' && ![ID, IF_VERSION].includes(name)
}

/** Changes a number of the records with these ids, or of all that match, after a preview. Records without the number stay. */
async function adjustRecords(
  noun: Noun,
  adjustment: Adjustment,
  texts: string[],
  options: Options,
  id: Field,
): Promise<void> {
  const filters = parseFilters(noun, options.filter ?? [], options.search)
  const { field, next } = adjustment
  await using open = await openClient(options, { retryForMs: options.timeout * SECOND_MS })
  const ids = texts.flatMap((text) => text.split(',')).map((text) => parseValue(id, text))
  const found = texts.length > 0 ? await getEach(open.client, noun, ids) : await matching(open.client, noun, filters)
  const records = found.filter((record) => typeof record[field] === 'number')
  const shown = sampled(records)
  const text = () => preview(noun, shown, options.fields, (record) => ({ [field]: next(record[field] as number) }))
  const what = `Update ${countOf(noun, records.length)}: ${adjustment.text}?`
  if (records.length === 0 || options.dryRun) return answer(shown, options, () => text() + matchText(noun, shown))
  if (texts.length === 0 && !options.yes) {
    if (!isInteractive()) throw new Failure('invalid', `${text()}${what} Add --yes to confirm.`, { ...shown })
    process.stderr.write(text())
    if (!(await confirm(what))) throw notConfirmed()
  }
  await adjust(open.client, noun, records, adjustment, options)
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
async function changeMatching(noun: Noun, action: Action, changes: JsonObject, options: Options): Promise<void> {
  const filter = parseFilters(noun, options.filter ?? [], options.search)
  await using open = await openClient(options, { retryForMs: options.timeout * SECOND_MS })
  const input = { action, filter, ...(action === 'update' && { changes }) }
  const batch = (await call(open.client, noun, 'createBatch', input)) as unknown as Batch & JsonObject
  const counted = countOf(noun, batch.count)
  const what = action === 'delete' ? `Delete ${counted}?` : `Update ${counted}: ${wordsOf(changes)}?`
  const shown = preview(noun, batch, options.fields, () => changes)
  if (batch.count === 0 || options.dryRun) {
    return answer(batch, options, () => (batch.count === 0 ? '' : shown) + matchText(noun, batch))
  }
  if (!options.yes) {
    const { count, sample } = batch
    if (!isInteractive()) throw new Failure('invalid', `${shown}${what} Add --yes to confirm.`, { count, sample })
    process.stderr.write(shown)
    if (!(await confirm(what))) throw notConfirmed()
  }
  const applied = await call(open.client, noun, 'applyBatch', { batch_id: batch.id, status: 'applied' })
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

async function getEach(client: Client, noun: Noun, ids: unknown[]): Promise<JsonObject[]> {
  const records: JsonObject[] = []
  for (let start = 0; start < ids.length; start += CALLS_AT_ONCE) {
    const group = ids.slice(start, start + CALLS_AT_ONCE)
    records.push(...(await Promise.all(group.map((id) => call(client, noun, 'get', { [ID]: id })))))
  }
  return records
}

/** Changes each record by itself: one that fails does not stop the others. With `--dry-run` it only reads them. */
async function changeEach(
  client: Client,
  noun: Noun,
  action: Action,
  inputs: JsonObject[],
  options: Options,
): Promise<void> {
  const changed: JsonObject[] = []
  const failed: { id: unknown; failure: Failure }[] = []
  for (let start = 0; start < inputs.length; start += CALLS_AT_ONCE) {
    const group = inputs.slice(start, start + CALLS_AT_ONCE)
    const results = await Promise.allSettled(
      group.map((input) =>
        options.dryRun ? call(client, noun, 'get', { [ID]: input[ID] }) : call(client, noun, action, input),
      ),
    )
    for (const [n, result] of results.entries()) {
      const id = group[n]?.[ID]
      if (result.status === 'fulfilled')
        changed.push(action === 'update' ? result.value : { [ID]: id, ...result.value })
      else failed.push({ id, failure: toFailure(result.reason, options) })
    }
  }
  if (changed.length > 0 && options.dryRun) {
    const shown = sampled(changed)
    const [{ [ID]: _, [IF_VERSION]: __, [KEY]: ___, ...changes } = {}] = inputs
    const text = () => preview(noun, shown, options.fields, () => changes) + matchText(noun, shown)
    await answer({ action, ...shown, ...(action === 'update' && { changes }) }, options, text)
  } else if (changed.length > 0) {
    await (action === 'update'
      ? answerRecords(changed, tableColumns(noun), options)
      : answer(changed, options, () => `${countOf(noun, changed.length)} deleted\n`))
  }
  const [first] = failed
  if (first === undefined) return
  const isSame = changed.length === 0 && failed.every(({ failure }) => failure.outcome === first.failure.outcome)
  throw new Failure(
    isSame ? first.failure.outcome : 'partial',
    failed.map(({ id, failure }) => `${id}: ${failure.message}`).join('\n'),
    { records: failed.map(({ id, failure }) => ({ id, code: failure.outcome, message: failure.message })) },
  )
}

function idField(fields: Field[]): Field {
  return fields.find(({ name }) => name === ID) as Field
}
