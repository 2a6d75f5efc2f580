import { ServiceError } from '@resource/client'
import { calls, type RowResult } from '../resources/calls.ts'
import { type Action, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { errorMessage, formatCount, rowError, sentence } from '../ui/format.ts'
import { notify } from '../ui/notices.ts'
import { deletion } from './changes.ts'
import { applyOptimistically } from './optimistic.ts'
import { refresh } from './rows.ts'
import type { Selection } from './selection.ts'

const MAX_NAMED = 5

interface Outcome {
  /** The changed records with their new version, and the records before. */
  done: { before: Row; after: Row | undefined }[]
  failed: { row: Row; error: string }[]
}

/** Actions on the selected records. Records for which an action fails stay selected. */
export function useBulk(resource: Resource, selection: Selection) {
  const { noun } = resource
  const { updateMany } = calls(noun)
  const selectFailed = ({ failed }: Outcome) => selection.select(failed.map(({ row }) => row.id))

  /**
   * Shows the result at once and reverts it where the service rejects it.
   *
   * @param onOutcome returns a function that undoes the action, if that is possible
   */
  const run = async (
    action: Action,
    rows: Row[],
    send: () => Promise<{ results: RowResult[] }>,
    onOutcome?: (outcome: Outcome) => (() => void) | undefined,
  ) => {
    const settles = rows.map(({ id }) => applyOptimistically(noun, id, action.apply))
    try {
      const outcome = outcomeOf(rows, (await send()).results)
      report(resource, action, outcome, onOutcome?.(outcome))
    } catch (error) {
      notify('failed', `${formatCount(rows.length, resource)} not ${action.done}. ${errorMessage(error)}`)
    }
    await refresh(resource)
    for (const settle of settles) settle()
  }

  const undo = async (action: Action, { done }: Outcome) => {
    const previous = new Map(done.map(({ before }) => [before.id, fieldsOf(before, Object.keys(action.changes ?? {}))]))
    const changed = done.flatMap(({ after }) => after ?? [])
    const rows = changed.map(({ id, version }) => ({ ...previous.get(id), id, if_version: version }))
    const restoration = { ...action, done: 'restored', apply: (row: Row) => ({ ...row, ...previous.get(row.id) }) }
    await run(restoration, changed, () => updateMany.mutate({ [noun]: rows, partial: true }))
  }

  return {
    act: (action: Action, selected: Row[]) => {
      const rows = selected.map(({ id, version }) => ({ ...action.changes, id, if_version: version }))
      return run(
        action,
        selected,
        () => updateMany.mutate({ [noun]: rows, partial: true }),
        (outcome) => {
          selectFailed(outcome)
          return outcome.done.length === 0 ? undefined : () => void undo(action, outcome)
        },
      )
    },
    // One by one, because a writer may delete records, but not many at once. The client sends them in one request.
    remove: (selected: Row[]) => {
      const action = deletion(resource)
      const removeOne = (row: Row) => action.send(row, row.version).then(() => ({ status: 204 }), failedResult)
      return run(
        action,
        selected,
        async () => ({ results: await Promise.all(selected.map(removeOne)) }),
        (outcome) => {
          selectFailed(outcome)
          return undefined
        },
      )
    },
  }
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
