import { useState } from 'react'
import { Form } from 'react-aria-components'
import { DiscardDialog } from '../form/DiscardDialog.tsx'
import type { Field } from '../resources/field.ts'
import type { BulkAction, Resource, Row } from '../resources/resource.ts'
import { MAX_READ, readAll } from '../table/bulk.ts'
import { editOf, sharedFields } from '../table/edit-many.ts'
import type { Selection } from '../table/selection.ts'
import { describeFilters, filtersOf, type View } from '../table/view.ts'
import { Button } from '../ui/Button.tsx'
import { Choice } from '../ui/Choice.tsx'
import { FailedLine } from '../ui/FailedLine.tsx'
import { errorMessage, formatCount } from '../ui/format.ts'
import { ModalDialog } from '../ui/ModalDialog.tsx'
import { useIsMounted } from '../ui/mounted.ts'
import { closeUnlessUnsaved, release, useUnsavedInput } from '../ui/unsaved.ts'
import { Preview, Value } from './EditManyValue.tsx'

interface Props {
  resource: Resource
  view: View
  selection: Selection
  /** The number of records that match the filters. */
  total: number
  /** @param rows undefined if the action is for all matching records, after a preview */
  onEdit: (action: BulkAction, rows?: Row[]) => void
  onClose: () => void
}

/** Sets one field of many records, or changes a number by an amount or a percentage. */
export function EditManyDialog({ resource, view, selection, total, onEdit, onClose }: Props) {
  const fields = sharedFields(resource)
  const [field, setField] = useState(fields[0] as Field)
  // Undefined removes the value.
  const [text, setText] = useState<string | undefined>('')
  const [failure, setFailure] = useState<string>()
  const [isReading, setReading] = useState(false)
  /** All matching records, for a change that depends on each of them. */
  const [read, setRead] = useState<Row[]>()
  const isOpen = useIsMounted()
  const unsaved = useUnsavedInput(text !== '', false)

  const { isEverything } = selection
  const rows = read ?? selection.rows
  const edit = editOf(resource, field, text)
  const action = 'action' in edit ? edit.action : undefined
  const fitting = action === undefined ? rows : rows.filter(action.isFor)
  const isUnread = isEverything && read === undefined
  const count = formatCount(isUnread ? total : fitting.length, resource)
  const canSubmit = action !== undefined && !isReading && (isUnread || fitting.length > 0)

  const change = (next: string | undefined, of = field) => {
    setField(of)
    setText(next)
    setRead(undefined)
    setFailure(undefined)
  }

  const submit = async (action: BulkAction) => {
    if (isUnread && action.changesOf !== undefined) return readRows()
    release()
    onClose()
    onEdit(action, isUnread ? undefined : fitting)
  }

  // The service cannot preview a change that depends on each record, so it is sent record by record.
  const readRows = async () => {
    if (total > MAX_READ) {
      return setFailure(
        `At most ${formatCount(MAX_READ, resource)} can change by an amount or a percentage. Use more filters.`,
      )
    }
    setReading(true)
    try {
      const all = await readAll(resource, filtersOf(resource, view))
      if (isOpen.current) setRead(all)
    } catch (error) {
      setFailure(errorMessage(error))
    }
    setReading(false)
  }

  const close = () => closeUnlessUnsaved(onClose)
  return (
    <ModalDialog title={`Edit ${formatCount(isEverything ? total : rows.length, resource)}`} onClose={close}>
      {unsaved.isAsked && (
        <DiscardDialog
          what={`these ${resource.many}`}
          onKeep={unsaved.keep}
          onDiscard={() => {
            // This dialog is no part of the URL, so the Back button has not closed it.
            release()
            onClose()
          }}
        />
      )}
      <Form
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault()
          if (canSubmit) void submit(action)
        }}
      >
        {failure !== undefined && <FailedLine>{failure}</FailedLine>}
        <Choice
          label={<span className="label">Field</span>}
          className="field"
          value={field.name}
          options={fields.map(({ name, label }) => [name, label])}
          onChange={(chosen) => {
            const next = fields.find(({ name }) => name === chosen)
            change('', next)
          }}
        />
        <Value key={field.name} resource={resource} field={field} text={text} onChange={change} />
        {text !== '' && 'error' in edit && (
          <p role="status" className="field-error">
            {edit.error}
          </p>
        )}
        {action !== undefined && (
          <>
            {read !== undefined && (
              <p role="status">
                <strong>{count}</strong>
                {describeFilters(resource, filtersOf(resource, view))}, on all pages, will be edited ({action.summary}).
              </p>
            )}
            {fitting.length === 0 && <p role="status">None of them has a number to change.</p>}
            <Preview resource={resource} field={field} action={action} rows={fitting} />
          </>
        )}
        <footer>
          <Button onPress={close}>Cancel</Button>
          <Button className="button primary" type="submit" isDisabled={!canSubmit}>
            {isReading ? 'Reading…' : isUnread ? 'Preview' : `Edit ${count}`}
          </Button>
        </footer>
      </Form>
    </ModalDialog>
  )
}
