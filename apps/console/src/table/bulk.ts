import { calls } from '../resources/calls.ts'
import type { BulkAction, Resource, Row } from '../resources/resource.ts'
import { errorMessage, formatCount } from '../ui/format.ts'
import { notify } from '../ui/notices.ts'
import { addEdit, changeOf } from './history.ts'
import { applyOptimistically, storedOf } from './optimistic.ts'
import { refresh } from './queries.ts'
import type { Selection } from './selection.ts'
import { changesOf, reportFailures, sendRows, writeRows } from './write.ts'

/** The most records whose change the page can undo. */
export const MAX_UNDONE = 10_000

/** Changes of the selected records. Records for which one fails stay selected. */
export function useBulk(resource: Resource, selection: Selection) {
  const { noun } = resource

  /** Shows the result at once and reverts it where the service rejects it. */
  const act = async (action: BulkAction, selected: Row[]) => {
    const ids = selected.map(({ id }) => id)
    const settles = ids.map((id) => applyOptimistically(noun, id, action.apply))
    const written = writeRows(
      noun,
      ids,
      () => selected.map(storedOf),
      (rows) =>
        sendRows(
          noun,
          rows.map(({ id, version }) => ({ ...action.changes, id, if_version: version })),
        ),
    )
    const announce = addEdit(
      resource,
      action.done,
      ids,
      written.then(({ done }) =>
        done.flatMap(({ before, after }) => (after ? changeOf(before, after, changesOf(action, before)) : [])),
      ),
    )
    try {
      const { done, failed } = await written
      selection.remove(done.map(({ before }) => before.id))
      await announce()
      reportFailures(resource, action.done, failed)
    } catch (error) {
      notify('failed', `${formatCount(selected.length, resource)} not ${action.done}. ${errorMessage(error)}`)
    }
    await refresh(resource)
    for (const settle of settles) settle()
  }

  return { act }
}

/** All records that match filters. */
export async function readAll({ noun }: Resource, filter: Record<string, unknown>): Promise<Row[]> {
  const rows: Row[] = []
  for await (const page of calls(noun).pages({ ...filter, limit: 1000 })) rows.push(...(page[noun] as Row[]))
  return rows
}
