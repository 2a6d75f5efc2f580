import { calls, type RowResult } from '../resources/calls.ts'
import type { BulkAction, Resource, Row } from '../resources/resource.ts'
import { errorMessage, formatCount } from '../ui/format.ts'
import { notify } from '../ui/notices.ts'
import { addEdit, changeOf } from './history.ts'
import { applyOptimistically, storedOf } from './optimistic.ts'
import { refresh } from './queries.ts'
import type { Selection } from './selection.ts'
import { changesOf, isChange, reportFailures, sendRows, writeRows } from './write.ts'

/** The most records whose change the page can undo. */
export const MAX_UNDONE = 10_000

/** Actions on the selected records. Records for which an action fails stay selected. */
export function useBulk(resource: Resource, selection: Selection) {
  const { noun } = resource

  /** Shows the result at once and reverts it where the service rejects it. */
  const run = async (action: BulkAction, selected: Row[], send: (rows: Row[]) => Promise<RowResult[]>) => {
    // Records of other pages are not shown.
    const ids = selected.map(({ id }) => id)
    const settles = selection.rows
      .filter(({ id }) => ids.includes(id))
      .map((row) => {
        const after = action.apply(row)
        const { version } = storedOf(row)
        // A change by a percentage must not show twice, once the stored record has it.
        const isOnce = action.changesOf !== undefined
        return applyOptimistically(noun, row.id, (stored) => {
          if (!isOnce) return action.apply(stored)
          return stored.version === version ? after : stored
        })
      })
    const written = writeRows(noun, ids, () => selected.map(storedOf), send)
    const announce = isChange(action)
      ? addEdit(
          resource,
          action.done,
          ids,
          written.then(({ done }) =>
            done.flatMap(({ before, after }) => (after ? changeOf(before, after, changesOf(action, before)) : [])),
          ),
        )
      : undefined
    try {
      const { done, failed } = await written
      selection.remove(done.map(({ before }) => before.id))
      if (announce !== undefined) await announce()
      else if (done.length > 0) notify('done', `${formatCount(done.length, resource)} ${action.done}`)
      reportFailures(resource, action.done, failed)
    } catch (error) {
      notify('failed', `${formatCount(selected.length, resource)} not ${action.done}. ${errorMessage(error)}`)
    }
    await refresh(resource)
    for (const settle of settles) settle()
  }

  return {
    act: (action: BulkAction, selected: Row[]) =>
      run(action, selected, (rows) =>
        sendRows(
          noun,
          rows.map((row) => ({ ...changesOf(action, row), id: row.id, if_version: row.version })),
        ),
      ),
  }
}

/** All records that match filters. */
export async function readAll({ noun }: Resource, filter: Record<string, unknown>): Promise<Row[]> {
  const rows: Row[] = []
  for await (const page of calls(noun).pages({ ...filter, limit: 1000 })) rows.push(...(page[noun] as Row[]))
  return rows
}
