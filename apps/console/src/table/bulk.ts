import { ServiceError } from '@resource/client'
import { calls, LONG_TIMEOUTS, type RowResult, rowError } from '../resources/calls.ts'
import { type BulkAction, type Noun, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { errorMessage, formatCount, isUnanswered, sentence } from '../ui/format.ts'
import { notify } from '../ui/notices.ts'
import { deletion } from './changes.ts'
import { applyOptimistically } from './optimistic.ts'
import { refresh } from './rows.ts'
import type { Selection } from './selection.ts'

const MAX_NAMED = 5
// The status of rows whose request got no answer.
const NO_ANSWER = 504
const MAX_ROWS_PER_REQUEST = 1000
/** The most records that the page reads to change them one by one, or to undo a change. */
export const MAX_READ = 10_000

interface Outcome {
  /** The changed records with their new version, and the records before. */
  done: { before: Row; after: Row | undefined }[]
  failed: { row: Row; error: string; isUnknown: boolean }[]
}

/** Actions on the selected records. Records for which an action fails stay selected. */
export function useBulk(resource: Resource, selection: Selection) {
  const { noun } = resource

  /** Shows the result at once and reverts it where the service rejects it. */
  const run = async (action: BulkAction, rows: Row[], send: () => Promise<RowResult[]>) => {
    // Records of other pages are not shown.
    const ids = new Set(rows.map(({ id }) => id))
    const shown = selection.rows.filter(({ id }) => ids.has(id))
    const settles = shown.map((row) => {
      const after = action.apply(row)
      // A change of the stored record is shown as it is, not changed once more.
      return applyOptimistically(noun, row.id, (stored) => (stored.version === row.version ? after : stored))
    })
    try {
      const outcome = outcomeOf(rows, await send())
      selection.select(outcome.failed.map(({ row }) => row.id))
      report(resource, action, outcome, undoOf(resource, action, outcome))
    } catch (error) {
      notify('failed', `${formatCount(rows.length, resource)} not ${action.done}. ${errorMessage(error)}`)
    }
    await refresh(resource)
    for (const settle of settles) settle()
  }

  return {
    act: (action: BulkAction, selected: Row[]) =>
      run(action, selected, () =>
        writeRows(
          noun,
          'updateMany',
          selected.map((row) => ({ ...changesOf(action, row), id: row.id, if_version: row.version })),
        ),
      ),
    remove: (selected: Row[]) => {
      const rows = selected.map(({ id, version }) => ({ id, if_version: version }))
      return run(deletion(resource), selected, () => writeRows(noun, 'deleteMany', rows))
    },
  }
}

function undoOf(resource: Resource, action: BulkAction, { done }: Outcome): (() => void) | undefined {
  if (!isChange(action)) return undefined
  const changed = done.flatMap(({ before, after }) => (after ? [{ before, version: after.version }] : []))
  return changed.length === 0 ? undefined : () => void restore(resource, action, changed)
}

/** A record before an action, and its version after it. */
export interface Changed {
  before: Row
  version: number
}

/** Undoes an action: writes back the fields that it changed, unless the record has changed since. */
export async function restore(resource: Resource, action: BulkAction, changed: Changed[]): Promise<void> {
  const rows = changed.map(({ before, version }) => {
    const names = Object.keys(changesOf(action, before))
    return { ...fieldsOf(before, names), id: before.id, if_version: version }
  })
  const results = await writeRows(resource.noun, 'updateMany', rows)
  const outcome = outcomeOf(
    changed.map(({ before }) => before),
    results,
  )
  report(resource, { ...action, done: 'restored' }, outcome)
  await refresh(resource)
}

/** Whether an action changes records, and so can be undone. */
export function isChange({ changes, changesOf }: BulkAction): boolean {
  return (changes ?? changesOf) !== undefined
}

function changesOf({ changes = {}, changesOf }: BulkAction, row: Row): Record<string, unknown> {
  return changesOf?.(row) ?? changes
}

/** All records that match filters. */
export async function readAll({ noun }: Resource, filter: Record<string, unknown>): Promise<Row[]> {
  const rows: Row[] = []
  for await (const page of calls(noun).pages({ ...filter, limit: 1000 })) rows.push(...(page[noun] as Row[]))
  return rows
}

/** Updates or deletes rows that fail or succeed one by one. If a request fails, so do the rows that would follow. */
async function writeRows(noun: Noun, verb: 'updateMany' | 'deleteMany', rows: object[]): Promise<RowResult[]> {
  const results: RowResult[] = []
  try {
    while (results.length < rows.length) {
      const part = rows.slice(results.length, results.length + MAX_ROWS_PER_REQUEST)
      const answer = await calls(noun)[verb].mutate({ [noun]: part, partial: true }, LONG_TIMEOUTS)
      results.push(...answer.results)
    }
  } catch (error) {
    const failed = failedResult(error)
    while (results.length < rows.length) results.push(failed)
  }
  return results
}

function outcomeOf(rows: Row[], results: RowResult[]): Outcome {
  const outcome: Outcome = { done: [], failed: [] }
  for (const [index, row] of rows.entries()) {
    const result = results[index] as RowResult
    if (result.status < 300) outcome.done.push({ before: row, after: result.record })
    else outcome.failed.push({ row, error: reason(result), isUnknown: result.status === NO_ANSWER })
  }
  return outcome
}

function failedResult(error: unknown): RowResult {
  const status = error instanceof ServiceError ? error.status : 500
  return { status: isUnanswered(error) ? NO_ANSWER : status, error: errorMessage(error) }
}

function reason(result: RowResult): string {
  if (result.status === 404) return 'It no longer exists.'
  return result.status === 412 ? 'Someone else changed it in the meantime.' : sentence(rowError(result))
}

function fieldsOf(row: Row, names: string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, row[name]]))
}

function report(resource: Resource, action: BulkAction, { done, failed }: Outcome, undo?: () => void) {
  if (done.length > 0) notify('done', `${formatCount(done.length, resource)} ${action.done}`, undo)
  if (failed.length === 0) return
  const byError = Object.groupBy(failed.slice(0, MAX_NAMED), ({ error }) => error)
  const named = Object.entries(byError).map(
    ([error, rows = []]) => `${rows.map(({ row }) => nameOf(resource, row)).join(', ')}: ${error}`,
  )
  const more = failed.length > MAX_NAMED ? ` And ${failed.length - MAX_NAMED} more.` : ''
  const count = formatCount(failed.length, resource)
  const headline = failed.some(({ isUnknown }) => isUnknown)
    ? `${count} may not be ${action.done}: the result is unknown`
    : `${count} not ${action.done}`
  notify('failed', `${headline}. ${named.join(' ')}${more}`)
}
