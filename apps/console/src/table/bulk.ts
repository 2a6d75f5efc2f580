import { ServiceError } from '@resource/client'
import { calls, LONG_TIMEOUTS, type RowResult, rowError } from '../resources/calls.ts'
import { type Action, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { errorMessage, formatCount, sentence } from '../ui/format.ts'
import { notify } from '../ui/notices.ts'
import { deletion } from './changes.ts'
import { applyOptimistically } from './optimistic.ts'
import { refresh } from './rows.ts'
import type { Selection } from './selection.ts'

const MAX_NAMED = 5
const MAX_ROWS_PER_REQUEST = 1000

interface Outcome {
  /** The changed records with their new version, and the records before. */
  done: { before: Row; after: Row | undefined }[]
  failed: { row: Row; error: string }[]
}

/** Actions on the selected records. Records for which an action fails stay selected. */
export function useBulk(resource: Resource, selection: Selection) {
  const { noun } = resource
  const { updateMany } = calls(noun)

  /** Shows the result at once and reverts it where the service rejects it. */
  const run = async (action: Action, rows: Row[], send: () => Promise<RowResult[]>) => {
    const settles = rows.map(({ id }) => applyOptimistically(noun, id, action.apply))
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
    act: (action: Action, selected: Row[]) =>
      run(action, selected, async () => {
        const rows = selected.map(({ id, version }) => ({ ...action.changes, id, if_version: version }))
        return (await updateMany.mutate({ [noun]: rows, partial: true }, LONG_TIMEOUTS)).results
      }),
    // One by one, because a writer may delete records, but not many at once. The client sends them in one request.
    remove: (selected: Row[]) => {
      const action = deletion(resource)
      const removeOne = (row: Row) => action.send(row, row.version).then(() => ({ status: 204 }), failedResult)
      return run(action, selected, () => Promise.all(selected.map(removeOne)))
    },
  }
}

function undoOf(resource: Resource, action: Action, { done }: Outcome): (() => void) | undefined {
  if (action.changes === undefined) return undefined
  const changed = done.flatMap(({ before, after }) => (after ? [{ before, version: after.version }] : []))
  return changed.length === 0 ? undefined : () => void restore(resource, action, changed)
}

/** A record before an action, and its version after it. */
export interface Changed {
  before: Row
  version: number
}

/** Undoes an action: writes back the fields that it changed, unless the record has changed since. */
export async function restore(resource: Resource, action: Action, changed: Changed[]): Promise<void> {
  const { noun } = resource
  const names = Object.keys(action.changes ?? {})
  const outcome: Outcome = { done: [], failed: [] }
  for (let start = 0; start < changed.length; start += MAX_ROWS_PER_REQUEST) {
    const part = changed.slice(start, start + MAX_ROWS_PER_REQUEST)
    const previous = part.map(({ before }) => before)
    const rows = part.map(({ before, version }) => ({ ...fieldsOf(before, names), id: before.id, if_version: version }))
    const { results } = await calls(noun)
      .updateMany.mutate({ [noun]: rows, partial: true }, LONG_TIMEOUTS)
      .catch((error: unknown) => ({ results: previous.map(() => failedResult(error)) }))
    const { done, failed } = outcomeOf(previous, results)
    outcome.done.push(...done)
    outcome.failed.push(...failed)
  }
  report(resource, { ...action, done: 'restored' }, outcome)
  await refresh(resource)
}

function outcomeOf(rows: Row[], results: RowResult[]): Outcome {
  const outcome: Outcome = { done: [], failed: [] }
  for (const [index, row] of rows.entries()) {
    const result = results[index] as RowResult
    if (result.status < 300) outcome.done.push({ before: row, after: result.record })
    else outcome.failed.push({ row, error: reason(result) })
  }
  return outcome
}

function failedResult(error: unknown): RowResult {
  return { status: error instanceof ServiceError ? error.status || 503 : 500, error: errorMessage(error) }
}

function reason(result: RowResult): string {
  if (result.status === 404) return 'It no longer exists.'
  return result.status === 412 ? 'Someone else changed it in the meantime.' : sentence(rowError(result))
}

function fieldsOf(row: Row, names: string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, row[name]]))
}

function report(resource: Resource, action: Action, { done, failed }: Outcome, undo?: () => void) {
  if (done.length > 0) notify('done', `${formatCount(done.length, resource)} ${action.done}`, undo)
  if (failed.length === 0) return
  const named = failed.slice(0, MAX_NAMED).map(({ row, error }) => `${nameOf(resource, row)}: ${error}`)
  const more = failed.length > MAX_NAMED ? ` And ${failed.length - MAX_NAMED} more.` : ''
  notify('failed', `${formatCount(failed.length, resource)} not ${action.done}. ${named.join(' ')}${more}`)
}
