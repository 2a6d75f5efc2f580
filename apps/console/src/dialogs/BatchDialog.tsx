import { NotFoundError, VersionMismatchError } from '@resource/client'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Form, Input, Label, TextField } from 'react-aria-components'
import { type Batch, calls, LONG_TIMEOUTS } from '../resources/calls.ts'
import { type BulkAction, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { MAX_READ, readAll } from '../table/bulk.ts'
import { addEdit, type Change, changeOf } from '../table/history.ts'
import { refresh } from '../table/queries.ts'
import { noteWrite } from '../table/turns.ts'
import { describeFilters, filtersOf, type View } from '../table/view.ts'
import { isChange } from '../table/write.ts'
import { Button } from '../ui/Button.tsx'
import { FailedLine } from '../ui/FailedLine.tsx'
import { errorMessage, formatCount, isOutage } from '../ui/format.ts'
import { Loaded } from '../ui/Loaded.tsx'
import { ModalDialog } from '../ui/ModalDialog.tsx'
import { useIsMounted } from '../ui/mounted.ts'
import { notify } from '../ui/notices.ts'

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
          <Confirmation
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

function canUndo(action: BulkAction, count: number): boolean {
  return isChange(action) && count <= MAX_READ
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

interface ConfirmationProps {
  resource: Resource
  action: BulkAction
  batch: Batch
  filters: string
  isOutdated: boolean
  isRunning: boolean
  onCancel: () => void
  onConfirm: () => void
}

function Confirmation(props: ConfirmationProps) {
  const { resource, action, batch, filters, isOutdated, isRunning, onCancel, onConfirm } = props
  const [typed, setTyped] = useState('')
  const { count, sample } = batch
  const words = `${action.label.toLowerCase()} ${count}`
  const isDeletion = action.changes === undefined
  const canConfirm = count > 0 && !isRunning && (!isDeletion || typed.trim().toLowerCase() === words)
  const names = sample.map((row) => nameOf(resource, row)).join(', ')
  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault()
        if (canConfirm) onConfirm()
      }}
    >
      {isOutdated && (
        <FailedLine>
          The matching {resource.many} have changed. Nothing was {action.done}.
        </FailedLine>
      )}
      <p>
        <strong>{formatCount(count, resource)}</strong>
        {filters}, on all pages, will be {action.done}
        {action.summary && ` (${action.summary})`}
        {count > 0 &&
          `: ${names}${count > sample.length ? ` and ${(count - sample.length).toLocaleString('en')} more` : ''}`}
        .{!canUndo(action, count) && ' You cannot undo this.'}
      </p>
      {isDeletion && (
        <TextField className="field" value={typed} onChange={setTyped} autoComplete="off" autoFocus>
          <Label className="label">
            Type <code translate="no">{words}</code> to confirm
          </Label>
          <Input translate="no" />
        </TextField>
      )}
      <footer>
        <Button onPress={onCancel}>Cancel</Button>
        <Button className="button danger" type="submit" isDisabled={!canConfirm}>
          {action.label} {formatCount(count, resource)}
        </Button>
      </footer>
    </Form>
  )
}
