import { useState } from 'react'
import { Form } from 'react-aria-components'
import { FieldInput } from '../form/FieldInput.tsx'
import { type Field, valueError } from '../resources/field.ts'
import { type BulkAction, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { MAX_READ, readAll } from '../table/bulk.ts'
import { editOf, sharedFields } from '../table/edit-many.ts'
import { refresh } from '../table/rows.ts'
import type { Selection } from '../table/selection.ts'
import { filtersOf, type View } from '../table/view.ts'
import { Button } from '../ui/Button.tsx'
import { errorMessage, formatCount } from '../ui/format.ts'
import { ModalDialog } from '../ui/ModalDialog.tsx'

const PREVIEWED = 3

interface Props {
  resource: Resource
  view: View
  selection: Selection
  /** The number of records that match the filters. */
  total: number
  /** @param rows undefined if the action is for all matching records */
  onEdit: (action: BulkAction, rows?: Row[]) => void
  onClose: () => void
}

/** Sets one field of many records, or changes a number by an amount or a percentage. */
export function EditManyDialog({ resource, view, selection, total, onEdit, onClose }: Props) {
  const { isEverything, rows } = selection
  const count = isEverything ? total : rows.length
  const fields = sharedFields(resource)
  const [field, setField] = useState(fields[0] as Field)
  const [text, setText] = useState(field.initial)
  const [failure, setFailure] = useState<string>()
  const [isRunning, setRunning] = useState(false)
  const edit = editOf(resource, field, text)

  const submit = async (action: BulkAction) => {
    setRunning(true)
    setFailure(undefined)
    try {
      const selected = !isEverything ? rows : action.changesOf === undefined ? undefined : await readCounted()
      onClose()
      onEdit(action, selected?.filter(action.isFor))
    } catch (error) {
      setFailure(errorMessage(error))
    }
    setRunning(false)
  }

  // A change that depends on each record is sent record by record.
  const readCounted = async () => {
    if (total > MAX_READ) {
      throw new Error(`At most ${formatCount(MAX_READ, resource)} can be changed by an amount. Use more filters.`)
    }
    const read = await readAll(resource, filtersOf(resource, view))
    if (read.length === total) return read
    await refresh(resource)
    throw new Error(`The number of ${resource.many} has changed. Nothing was edited.`)
  }

  return (
    <ModalDialog title={`Edit ${formatCount(count, resource)}`} onClose={onClose}>
      <Form
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault()
          if ('action' in edit && !isRunning) void submit(edit.action)
        }}
      >
        {failure !== undefined && (
          <p role="alert" className="failed-line">
            {failure}
          </p>
        )}
        <label className="field">
          <span className="label">Field</span>
          <select
            value={field.name}
            onChange={(event) => {
              const next = fields.find(({ name }) => name === event.target.value) as Field
              setField(next)
              setText(next.initial)
            }}
          >
            {fields.map(({ name, label }) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <div data-start>
          <FieldInput
            key={field.name}
            field={{ ...field, label: `New ${field.label.toLowerCase()}` }}
            value={text}
            onChange={setText}
            hint="empty for none"
            error={'error' in edit && text !== '' ? edit.error : undefined}
          />
        </div>
        {field.kind === 'number' && <p className="hint">A number, or a change: +5, -5, +10%, -10%</p>}
        {'action' in edit && <Preview resource={resource} field={field} action={edit.action} rows={rows} />}
        <footer>
          <Button onPress={onClose}>Cancel</Button>
          <Button className="button primary" type="submit" isDisabled={'error' in edit || isRunning}>
            {isRunning ? 'Reading…' : `Edit ${formatCount(count, resource)}`}
          </Button>
        </footer>
      </Form>
    </ModalDialog>
  )
}

/** The first records before and after. */
function Preview({
  resource,
  field,
  action,
  rows,
}: {
  resource: Resource
  field: Field
  action: BulkAction
  rows: Row[]
}) {
  const shown = (value: unknown) => (value === null ? 'none' : String(value))
  return (
    <ul className="changes" aria-label="Preview">
      {rows
        .filter(action.isFor)
        .slice(0, PREVIEWED)
        .map((row) => {
          const after = action.apply(row)?.[field.name]
          return (
            <li key={row.id}>
              {nameOf(resource, row)}: from {shown(row[field.name])} to {shown(after)}
              {valueError(field, after) !== undefined && ` (${valueError(field, after)})`}
            </li>
          )
        })}
    </ul>
  )
}
