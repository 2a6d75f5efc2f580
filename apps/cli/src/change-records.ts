import type { Client } from '@resource/client'
import { type RowResult, rowError } from '@resource/import'
import type { Outcome } from './exit-codes.ts'
import { Failure, invalid } from './failures.ts'
import { confirmEffect, isOnlyShown, type PreviewOptions, showPreview, type Write } from './preview.ts'
import { answer, answerRecord, answerRecords } from './print-records.ts'
import { wordsOf } from './procedure-command.ts'
import { call, countOf, ID, type JsonObject, type Noun } from './procedures.ts'
import { isInteractive } from './prompt.ts'
import { tableColumns } from './table-columns.ts'

export type Action = 'update' | 'delete'

/** The most ids that a command takes. */
const MAX_IDS = 1000

const OUTCOMES: Record<number, Outcome> = { 400: 'invalid', 403: 'denied', 404: 'not_found', 409: 'conflict' }

export interface ChangeOptions extends PreviewOptions {
  yes: boolean
}

/** What a command changes, and how. */
export interface Change {
  noun: Noun
  action: Action
  /** The ids of the records, unless filters choose them. */
  ids: unknown[]
  where: JsonObject | undefined
  /** The new values of fields. */
  set: JsonObject
  /** Amounts and factors for numbers. */
  numbers: { add?: Record<string, number>; multiply?: Record<string, number> }
  /** What else the input has: a version, an idempotency key. */
  conditions: JsonObject
}

/** Changes or deletes records, after a preview if filters choose them or a deletion is asked for on a terminal. */
export async function changeRecords(client: Client, change: Change, options: ChangeOptions): Promise<void> {
  const { noun, action, ids, where } = change
  if (ids.length > MAX_IDS) throw invalid(`At most ${MAX_IDS} ids are possible; use --where`)
  const write = { client, noun, ...callOf(change) }
  if (isOnlyShown(options)) return showPreview(write, options)
  const asks = !options.yes && (where !== undefined || (action === 'delete' && isInteractive()))
  const effect = asks ? await confirmEffect(write, options, (records) => questionOf(change, records)) : undefined
  if (asks && effect === undefined) return
  const output = await call(client, noun, write.verb, write.input, { ifEffect: effect })
  await report(write, output, ids, options)
}

/** The procedure that carries out a change, and its input. */
function callOf({ noun, action, ids, where, set, numbers, conditions }: Change): Pick<Write, 'verb' | 'input'> {
  const isSet = Object.keys(numbers).length === 0
  if (where === undefined && isSet && ids.length === 1) {
    return { verb: action, input: { [ID]: ids[0], ...set, ...conditions } }
  }
  if (where === undefined && isSet && action === 'update') {
    return {
      verb: 'updateMany',
      input: { [noun]: ids.map((id) => ({ [ID]: id, ...set })), partial: true, ...conditions },
    }
  }
  const input = { ...(where ?? { id_in: ids }), ...conditions }
  if (action === 'delete') return { verb: 'deleteWhere', input }
  const changes = { ...(Object.keys(set).length > 0 && { set }), ...numbers }
  return { verb: 'updateWhere', input: { ...input, changes } }
}

function questionOf({ action, set, numbers }: Change, records: string): string {
  if (action === 'delete') return `Delete ${records}?`
  const { add = {}, multiply = {} } = numbers
  const words = [
    ...(Object.keys(set).length > 0 ? [wordsOf(set)] : []),
    ...Object.entries(add).map(([field, by]) => `${field} ${by < 0 ? '-' : '+'} ${Math.abs(by)}`),
    ...Object.entries(multiply).map(([field, by]) => `${field} × ${by}`),
  ]
  return `Update ${records}: ${words.join(', ')}?`
}

async function report(
  { noun, verb }: Write,
  output: JsonObject,
  ids: unknown[],
  options: ChangeOptions,
): Promise<void> {
  switch (verb) {
    case 'update':
      return answerRecord(output, options)
    case 'updateMany':
      return reportRows(noun, output.results as ResultRow[], ids, options)
    case 'updateWhere':
      checkFound(noun, Number(output.matched), ids, 'not_found')
      await answer(output, options, () => `${countOf(noun, Number(output.changed))} updated\n`)
      return checkFound(noun, Number(output.matched), ids, 'partial')
    case 'deleteWhere':
      checkFound(noun, Number(output.removed), ids, 'not_found')
      await answer(output, options, () => `${output.message}\n`)
      return checkFound(noun, Number(output.removed), ids, 'partial')
    default:
      return answer(output, options, () => `${output.message}\n`)
  }
}

/** @throws Failure if none (`not_found`) or not all (`partial`) of the ids are those of records */
function checkFound(noun: Noun, found: number, ids: unknown[], outcome: 'not_found' | 'partial'): void {
  const missing = ids.length - found
  if (missing > 0 && (found === 0 || outcome === 'partial')) {
    throw new Failure(outcome, `${countOf(noun, missing)} not found`)
  }
}

type ResultRow = RowResult & { record?: JsonObject }

/** Prints the records that were changed. @throws Failure that names the others */
async function reportRows(noun: Noun, results: ResultRow[], ids: unknown[], options: ChangeOptions): Promise<void> {
  const records = results.flatMap(({ record }) => (record === undefined ? [] : [record]))
  if (records.length > 0) await answerRecords(records, tableColumns(noun), options)
  const failed = results.flatMap((result, n) =>
    result.status < 300 ? [] : [{ id: ids[n], code: OUTCOMES[result.status] ?? 'conflict', message: rowError(result) }],
  )
  const [first] = failed
  if (first === undefined) return
  const isSame = records.length === 0 && failed.every(({ code }) => code === first.code)
  const lines = failed.map(({ id, message }) => `${id}: ${message}`)
  throw new Failure(isSame ? first.code : 'partial', lines.join('\n'), { records: failed })
}
