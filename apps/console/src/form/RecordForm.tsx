import { useEffect, useRef } from 'react'
import { Form } from 'react-aria-components'
import { Versions } from '../conflict/Versions.tsx'
import type { Resource, Row } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { FailedLine } from '../ui/FailedLine.tsx'
import { closeUnlessUnsaved, useUnsavedInput } from '../ui/unsaved.ts'
import { DiscardDialog } from './DiscardDialog.tsx'
import { FieldInput } from './FieldInput.tsx'
import { useRecordForm } from './record-form.ts'

interface Props {
  resource: Resource
  /** The record to edit; absent for a new record. */
  row?: Row
  onClose: () => void
}

/** The form of a record, with a validation error below each invalid field. */
export function RecordForm({ resource, row, onClose }: Props) {
  const form = useRecordForm(resource, row, onClose)
  const element = useRef<HTMLFormElement>(null)
  const { errors, submissions, conflict, newer } = form
  const unsaved = useUnsavedInput(form.isChanged, form.isSaving)
  const question = unsaved.isAsked && (
    <DiscardDialog what={`this ${resource.one}`} onKeep={unsaved.keep} onDiscard={() => unsaved.discard(onClose)} />
  )

  // A rejected submission moves the focus to the first invalid field.
  useEffect(() => {
    if (submissions > 0) element.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [submissions])

  if (conflict !== undefined) {
    return (
      <>
        {question}
        <Versions resource={resource} {...conflict} mine={{ ...conflict.stored, ...form.changes }} />
        <footer>
          <Button onPress={() => unsaved.discard(onClose)}>Keep the stored version</Button>
          <Button onPress={form.keepEditing} autoFocus>
            Keep editing
          </Button>
          <Button className="button danger" onPress={() => void form.save()}>
            {form.isSaving ? 'Saving…' : 'Overwrite with mine'}
          </Button>
        </footer>
      </>
    )
  }
  return (
    <>
      {question}
      <Form
        ref={element}
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault()
          void form.save()
        }}
      >
        {form.failure !== undefined && <FailedLine>{form.failure}</FailedLine>}
        {form.fields.map((field) => (
          <FieldInput
            key={field.name}
            resource={resource}
            field={field}
            value={form.draft[field.name] ?? ''}
            onChange={(value) => form.set(field.name, value)}
            error={errors[field.name]}
            hint={field.kind === 'password' && row !== undefined ? 'leave empty to keep it' : undefined}
          />
        ))}
        <footer>
          {/* Here it moves no input and no button. */}
          <p role="alert" className="newer">
            {newer === null && 'Deleted by someone else.'}
            {newer != null && (
              <>
                Changed by someone else.{' '}
                <Button className="small" onPress={() => form.compare(newer)}>
                  Compare
                </Button>
              </>
            )}
          </p>
          <Button onPress={() => closeUnlessUnsaved(onClose)}>Cancel</Button>
          <Button className="button primary" type="submit">
            {form.isSaving ? 'Saving…' : row === undefined ? `Create ${resource.one}` : 'Save'}
          </Button>
        </footer>
      </Form>
    </>
  )
}
