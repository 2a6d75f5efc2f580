import { NotFoundError, VersionMismatchError } from '@resource/client'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { type Batch, calls, LONG_TIMEOUTS } from '../resources/calls.ts'
import type { BulkAction, Resource, Row } from '../resources/resource.ts'
import { readAll } from '../table/bulk.ts'
import { addEdit, type Change, changeOf } from '../table/history.ts'
import { refresh } from '../table/queries.ts'
import { noteWrite } from '../table/turns.ts'
import { describeFilters, filtersOf, type View } from '../table/view.ts'
import { errorMessage, formatCount, isOutage } from '../ui/format.ts'
import { Loaded } from '../ui/Loaded.tsx'
import { ModalDialog } from '../ui/ModalDialog.tsx'
import { useIsMounted } from '../ui/mounted.ts'
import { notify } from '../ui/notices.ts'
import { BatchConfirmation, canUndo } from './BatchConfirmation.tsx'

interface Props {
  resource: Resource
  view: View
  /** What to do with all matching records. */
  action: BulkAction
  onClose: () => void
}

/** Shows how many and which records match the filters, then changes or deletes exactly those. */
export function BatchDialog({ resource, view, action, onClose }: Props) {
  const filter = filtersOf(resource, view)
  const query = usePreview(resource, action, filter)
  const { data: batch, refetch } = query
  const [isRunning, setRunning] = useState(false)
  const [isOutdated, setOutdated] = useState(false)
  const isOpen = useIsMounted()
  // Read once per preview: a second attempt may run after the change.
  const read = useRef<{ id: number; before: Row[] }>(undefined)

  const apply = async ({ id, count }: Batch) => {
    setRunning(true)
    try {
      if (read.current?.id !== id) {
        read.current = { id, before: canUndo(action, count) ? await readAll(resource, filter) : [] }
      }
      // One key for all attempts: if the answer of one was lost, the next gets it.
      const options = { ...LONG_TIMEOUTS, idempotencyKey: `batch-${id}` }
      await calls(resource.noun).applyBatch.mutate({ batch_id: id, status: 'applied' }, options)
      const headline = `${formatCount(count, resource)} ${action.done}`
      const changes = changesBy(resource, action, read.current.before)
      if (changes.length === 0) notify('done', headline)
      else {
        const ids = changes.map(({ stored }) => stored.id)
        await addEdit(resource, action.done, ids, Promise.resolve(changes))(headline)
      }
      if (isOpen.current) onClose()
    } catch (error) {
      // The user confirmed these records only.
      const isOver = error instanceof VersionMismatchError || error instanceof NotFoundError
      setOutdated(isOver)
      if (isOver) await refetch()
      else
        notify(
          'failed',
          `${isOutage(error) ? 'The result is unknown' : `Nothing was ${action.done}`}. ${errorMessage(error)}`,
        )
    }
    setRunning(false)
    await refresh(resource)
  }

  const title = `${action.label} all ${batch === undefined ? 'matching' : batch.count.toLocaleString('en')} ${resource.many}?`
  return (
    <ModalDialog title={title} role="alertdialog" onClose={onClose}>
      <Loaded query={query} title="The preview failed" waiting="Counting…">
        {(batch) => (
          <BatchConfirmation
            key={batch.id}
            resource={resource}
            action={action}
            batch={batch}
            filters={describeFilters(resource, filter)}
            isOutdated={isOutdated}
            isRunning={isRunning}
            onCancel={onClose}
            onConfirm={() => void apply(batch)}
          />
        )}
      </Loaded>
    </ModalDialog>
  )
}

/** @param before the records between the preview and its application, which checks that they are those of the preview */
function changesBy({ noun }: Resource, { changes = {} }: BulkAction, before: Row[]): Change[] {
  return before.flatMap((row) => {
    // A record that already had the values keeps its version.
    if (Object.entries(changes).every(([name, value]) => row[name] === value)) return []
    const after = { ...row, ...changes, version: row.version + 1 }
    noteWrite(noun, row, after)
    return changeOf(row, after, changes)
  })
}

function usePreview({ noun }: Resource, { changes }: BulkAction, filter: Record<string, unknown>) {
  return useQuery({
    queryKey: ['batch', noun, changes ?? null, filter],
    queryFn: () =>
      calls(noun).createBatch.mutate(
        changes === undefined ? { action: 'delete', filter } : { action: 'update', filter, changes },
        LONG_TIMEOUTS,
      ),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}
