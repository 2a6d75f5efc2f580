import { ServiceError } from '@resource/client'
import { rowError } from '@resource/import'
import { calls, LONG_TIMEOUTS, type RowResult } from '../resources/calls.ts'
import { type BulkAction, type Noun, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { errorMessage, formatCount, isUnanswered, sentence } from '../ui/format.ts'
import { type NoticeLink, notify } from '../ui/notices.ts'
import { inTurn, latestOf, noteWrite } from './turns.ts'

const MAX_NAMED = 5
// The status of rows whose request got no answer.
const NO_ANSWER = 504
const MAX_ROWS_PER_REQUEST = 1000

interface Outcome {
  /** The changed records, and what they were before; without `after` if they were deleted. */
  done: { before: Row; after: Row | undefined }[]
  failed: { row: Row; error: string; status: number }[]
}

/** Whether an action changes records, and so can be undone. */
export function isChange({ changes, changesOf }: BulkAction): boolean {
  return (changes ?? changesOf) !== undefined
}

export function changesOf({ changes = {}, changesOf }: BulkAction, row: Row): Record<string, unknown> {
  return changesOf?.(row) ?? changes
}

/**
 * Writes records that fail or succeed one by one, after the earlier writes of this page.
 *
 * @param read returns the records, once these writes are over
 * @param send gets the records as these writes left them
 */
export function writeRows(
  noun: Noun,
  ids: number[],
  read: () => Row[] | Promise<Row[]>,
  send: (latest: Row[]) => Promise<RowResult[]>,
): Promise<Outcome> {
  return inTurn(noun, ids, async () => {
    const latest = (await read()).map((row) => latestOf(noun, row))
    const results = latest.length === 0 ? [] : await send(latest)
    const outcome: Outcome = { done: [], failed: [] }
    for (const [index, before] of latest.entries()) {
      const result = results[index] as RowResult
      if (result.status >= 300) outcome.failed.push({ row: before, error: reason(result), status: result.status })
      else {
        if (result.record !== undefined) noteWrite(noun, before, result.record)
        outcome.done.push({ before, after: result.record })
      }
    }
    return outcome
  })
}

/** Sends an update of each row at its version. If a request fails, so do the rows that would follow. */
export async function sendRows(noun: Noun, rows: object[]): Promise<RowResult[]> {
  const results: RowResult[] = []
  try {
    while (results.length < rows.length) {
      const part = rows.slice(results.length, results.length + MAX_ROWS_PER_REQUEST)
      const answer = await calls(noun).updateMany.mutate({ [noun]: part, partial: true }, LONG_TIMEOUTS)
      results.push(...answer.results)
    }
  } catch (error) {
    const failed = failedResult(error)
    while (results.length < rows.length) results.push(failed)
  }
  return results
}

function failedResult(error: unknown): RowResult {
  const status = error instanceof ServiceError ? error.status : 500
  return { status: isUnanswered(error) ? NO_ANSWER : status, error: errorMessage(error) }
}

function reason(result: RowResult): string {
  if (result.status === 404) return 'It no longer exists.'
  return result.status === 412 ? 'Someone else changed it in the meantime.' : sentence(rowError(result))
}

/**
 * Reports the rows that failed: `1 user not restored. Grace Hopper: It no longer exists.`
 *
 * @param valuesOf what was to be written, to follow the name: ` (age from 36 to 35)`
 * @param link the page of the rows, if it is another
 */
export function reportFailures(
  resource: Resource,
  done: string,
  failed: Outcome['failed'],
  valuesOf: (row: Row) => string = () => '',
  link?: NoticeLink,
): void {
  if (failed.length === 0) return
  const byError = Object.groupBy(failed.slice(0, MAX_NAMED), ({ error }) => error)
  const named = Object.entries(byError).map(
    ([error, rows = []]) => `${rows.map(({ row }) => nameOf(resource, row) + valuesOf(row)).join(', ')}: ${error}`,
  )
  const more = failed.length > MAX_NAMED ? ` And ${failed.length - MAX_NAMED} more.` : ''
  const count = formatCount(failed.length, resource)
  const headline = failed.some(({ status }) => status === NO_ANSWER)
    ? `${count} may not be ${done}: the result is unknown`
    : `${count} not ${done}`
  notify('failed', `${headline}. ${named.join(' ')}${more}`, { link })
}
