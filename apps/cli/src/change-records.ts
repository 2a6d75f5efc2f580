import { randomUUID } from 'node:crypto'
import { type Client, isServiceError } from '@resource/client'
import { type RowResult, rowError } from '@resource/import'
import type { Outcome } from './exit-codes.ts'
import { Failure, invalid, toFailure } from './failures.ts'
import {
  confirmPreview,
  isOnlyShown,
  type Preview,
  type PreviewOptions,
  previewOf,
  showPreview,
  totalOf,
  type Write,
} from './preview.ts'
import { answer, answerRecord, answerRecords } from './print-records.ts'
import { wordsOf } from './procedure-command.ts'
import { apply, call, countOf, ID, type JsonObject, type Noun } from './procedures.ts'
import { progress } from './progress.ts'
import { isInteractive } from './prompt.ts'
import { tableColumns } from './table-columns.ts'
import { showUndo, withUndo } from './undo-hint.ts'

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
  const { verb, input } = callOf(change)
  const write = { client, operation: `${noun}.${verb}`, input }
  if (isOnlyShown(options)) return showPreview(write, options)
  const asks = !options.yes && (where !== undefined || (action === 'delete' && isInteractive()))
  const preview = asks ? await previewOf(write) : undefined
  const question = (records: string) => questionOf(change, records)
  if (preview && !(await confirmPreview(write.operation, preview, options, question))) return
  if (preview?.steps !== undefined) return writeSteps(write, noun, preview, options)
  try {
    const output = await call(client, noun, verb, input, { ifEffect: preview?.effect })
    const changed = hasChanged(output) ? output : {}
    await report(noun, verb, output, ids, options).catch((error) => {
      throw withUndo(toFailure(error, options), changed)
    })
    showUndo(changed)
  } catch (error) {
    if (!isServiceError(error) || error.reason !== TOO_MANY) throw error
    await writeSteps(write, noun, await previewOf(write), options)
  }
}

/** The `reason` of a write of more records than one request may change. */
const TOO_MANY = 'too_many'

/** Writes the steps of a preview, one after another. */
async function writeSteps(write: Write, noun: Noun, preview: Preview, options: ChangeOptions): Promise<void> {
  const { client, operation, input } = write
  const group = randomUUID()
  const done = preview.deleted > 0 ? 'removed' : 'updated'
  const total = totalOf(preview)
  const bar = progress(done, total)
  try {
    const applied = await apply(client, operation, input, { preview, group, onProgress: bar.update })
    bar.end()
    await answer(applied, options, () => `${countOf(noun, total)} ${done}\n`)
    showUndo(applied)
  } catch (error) {
    bar.end()
    const written = bar.done
    if (written === 0) throw error
    const { message, details } = toFailure(error, options)
    const stopped = `${message}\nStopped after ${written} of ${countOf(noun, total)}.`
    throw withUndo(new Failure('partial', stopped, { ...details, written, total }), { group })
  }
}

/** Whether an answer says that anything was changed, if it does. */
function hasChanged({ changed, removed, results }: JsonObject): boolean {
  if (Array.isArray(results)) return results.some(({ changed }: ResultRow) => changed === true)
  return (changed ?? removed) !== 0
}

/** The procedure that carries out a change, and its input. */
function callOf({ noun, action, ids, where, set, numbers, conditions }: Change): { verb: string; input: JsonObject } {
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
  noun: Noun,
  verb: string,
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
