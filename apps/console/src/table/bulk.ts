import { ServiceError } from '@resource/client'
import { rowError } from '@resource/import'
import { LONG_TIMEOUTS, newGroup, type RowResult, writes } from '../resources/calls.ts'
import { type BulkAction, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { errorMessage, formatCount, isUnanswered, sentence } from '../ui/format.ts'
import { notify } from '../ui/notices.ts'
import { addEdit, idOf, type Written } from './history.ts'
import { applyOptimistically, storedOf } from './optimistic.ts'
import { refresh } from './queries.ts'
import type { Selection } from './selection.ts'
import { inTurn, latestOf, noteWrite } from './turns.ts'

const MAX_NAMED = 5
// The status of rows whose request got no answer.
const NO_ANSWER = 504
const MAX_ROWS_PER_REQUEST = 1000

interface Outcome extends Written {
  failed: { row: Row; error: string; status: number }[]
}

/** Changes of the selected records. Records for which one fails stay selected. */
export function useBulk(resource: Resource, selection: Selection) {
  const { noun } = resource

  /** Shows the result at once and reverts it where the service rejects it. */
  const act = async (action: BulkAction, selected: Row[]) => {
    const ids = selected.map(({ id }) => id)
    const settles = ids.map((id) => applyOptimistically(noun, id, action.apply))
    const written = inTurn(noun, ids, () => update(resource, selected, action.changes))
    const announce = addEdit(resource, action.done, ids, written)
    const { changes, failed } = await written
    selection.remove(changes.flatMap(({ after }) => idOf(after)))
    await announce()
    reportFailures(resource, action.done, failed)
    await refresh(resource)
    for (const settle of settles) settle()
  }

  return { act }
}

/** Sends an update of each row at its version. If a request fails, so do the rows that would follow. */
async function update({ noun }: Resource, selected: Row[], changes: object = {}): Promise<Outcome> {
  const rows = selected.map((row) => latestOf(noun, storedOf(row)))
  const group = newGroup()
  const outcome: Outcome = { request: { group }, changes: [], count: 0, failed: [] }
  const results: RowResult[] = []
  try {
    while (results.length < rows.length) {
      const part = rows.slice(results.length, results.length + MAX_ROWS_PER_REQUEST)
      const sent = part.map(({ id, version }) => ({ ...changes, id, if_version: version }))
      const answer = await writes(noun).updateMany.mutate({ [noun]: sent, partial: true }, { ...LONG_TIMEOUTS, group })
      results.push(...answer.results)
    }
  } catch (error) {
    const status = error instanceof ServiceError ? error.status : 500
    const failed = { status: isUnanswered(error) ? NO_ANSWER : status, error: errorMessage(error) }
    while (results.length < rows.length) results.push(failed)
  }
  for (const [index, row] of rows.entries()) {
    const { record, ...result } = results[index] as RowResult
    if (record === undefined) outcome.failed.push({ row, error: reason(result), status: result.status })
    else {
      noteWrite(noun, row, record)
      outcome.changes.push({ before: row, after: record })
    }
  }
  return { ...outcome, count: outcome.changes.length }
}

function reason(result: RowResult): string {
  if (result.status === 404) return 'It no longer exists.'
  return result.status === 412 ? 'Someone else changed it in the meantime.' : sentence(rowError(result))
}

/** Reports the rows that failed: `1 user not deactivated. Grace Hopper: It no longer exists.` */
function reportFailures(resource: Resource, done: string, failed: Outcome['failed']): void {
  if (failed.length === 0) return
  const byError = Object.groupBy(failed.slice(0, MAX_NAMED), ({ error }) => error)
  const named = Object.entries(byError).map(
    ([error, rows = []]) => `${rows.map(({ row }) => nameOf(resource, row)).join(', ')}: ${error}`,
  )
  const more = failed.length > MAX_NAMED ? ` And ${failed.length - MAX_NAMED} more.` : ''
  const count = formatCount(failed.length, resource)
  const headline = failed.some(({ status }) => status === NO_ANSWER)
    ? `${count} may not be ${done}: the result is unknown`
    : `${count} not ${done}`
  notify('failed', `${headline}. ${named.join(' ')}${more}`)
}
