import { useEffect, useRef } from 'react'
import { Form } from 'react-aria-components'
import { Versions } from '../conflict/Versions.tsx'
import type { Resource, Row } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { FieldInput } from './FieldInput.tsx'
import { useRecordForm } from './record-form.ts'

interface Props {
  resource: Resource
  /** The record to edit; a new one when absent. */
  row?: Row
  onClose: () => void
}

/** The fields of a record, each with what the contract holds against it. */
export function RecordForm({ resource, row, onClose }: Props) {
  const form = useRecordForm(resource, row, onClose)
  const element = useRef<HTMLFormElement>(null)
  const { faults, submissions, stored } = form

  // After a refused submission the keyboard stands in the first field that is wrong.
  useEffect(() => {
    if (submissions > 0) element.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [submissions])

  if (stored !== undefined) {
    return (
      <>
        <Versions resource={resource} title="Your version" mine={{ ...stored, ...form.input }} stored={stored} />
        <footer>
          <Button onPress={onClose} autoFocus>
            Keep the stored one
          </Button>
          <Button onPress={form.editStored}>Edit the stored one</Button>
          <Button className="button danger" onPress={() => void form.save(stored.version)}>
            {form.isSaving ? 'Saving…' : 'Save mine over it'}
          </Button>
        </footer>
      </>
    )
  }
  return (
    <Form
      ref={element}
      validationBehavior="aria"
      onSubmit={(event) => {
        event.preventDefault()
        void form.save()
      }}
    >
      {form.failure !== undefined && (
        <p role="alert" className="failed-line">
          {form.failure}
        </p>
      )}
      {form.fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          value={form.draft[field.name] ?? ''}
          onChange={(value) => form.set(field.name, value)}
          fault={faults[field.name]}
          hint={field.kind === 'password' && row !== undefined ? 'unchanged when empty' : undefined}
        />
      ))}
      <footer>
        <Button onPress={onClose}>Cancel</Button>
        <Button className="button primary" type="submit">
          {form.isSaving ? 'Saving…' : row === undefined ? `Create ${resource.one}` : 'Save'}
        </Button>
      </footer>
    </Form>
  )
}
