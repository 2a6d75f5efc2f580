import { useState } from 'react'
import { Form, Input, Label, TextField } from 'react-aria-components'
import type { Batch } from '../resources/calls.ts'
import { type BulkAction, nameOf, type Resource } from '../resources/resource.ts'
import { MAX_READ } from '../table/bulk.ts'
import { isChange } from '../table/write.ts'
import { Button } from '../ui/Button.tsx'
import { FailedLine } from '../ui/FailedLine.tsx'
import { formatCount } from '../ui/format.ts'

/** Whether a change of this many records can be undone. */
export function canUndo(action: BulkAction, count: number): boolean {
  return isChange(action) && count <= MAX_READ
}

interface Props {
  resource: Resource
  action: BulkAction
  batch: Batch
  filters: string
  isOutdated: boolean
  isRunning: boolean
  onCancel: () => void
  onConfirm: () => void
}

/** The records that a batch changes. A deletion must be typed to be confirmed. */
export function BatchConfirmation(props: Props) {
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
