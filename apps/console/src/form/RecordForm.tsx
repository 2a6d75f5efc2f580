import { useEffect, useRef } from 'react'
import { Form } from 'react-aria-components'
import type { Resource, Row } from '../resources/resource.ts'
import { useActor } from '../table/actor.ts'
import { VersionTable } from '../table/VersionTable.tsx'
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
  /** Called with the stored version when the versions of the record show, and without it when they no longer do. */
  onConflict?: (version?: number) => void
}

/** The form of a record, with a validation error below each invalid field. */
export function RecordForm({ resource, row, onClose, onConflict }: Props) {
  const form = useRecordForm(resource, row, onClose)
  const element = useRef<HTMLFormElement>(null)
  const { errors, submissions, conflict, newer } = form
  const unsaved = useUnsavedInput(form.isChanged, form.isSaving)
  const question = unsaved.isAsked && (
    <DiscardDialog
      what={`${row === undefined ? 'the new' : 'this'} ${resource.one}`}
      onKeep={unsaved.keep}
      onDiscard={() => unsaved.discard(onClose)}
    />
  )

  // A rejected submission moves the focus to the first invalid field.
  useEffect(() => {
    if (submissions > 0) element.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [submissions])

  const version = conflict?.stored.version
  useEffect(() => onConflict?.(version), [onConflict, version])

  if (conflict !== undefined) {
    return (
      <>
        {question}
        <VersionTable resource={resource} versions={conflict} sideOf={form.sideOf} onChoose={form.choose} />
        <footer>
          <Button className="button ghost" onPress={form.keepEditing}>
            Back to my edits
          </Button>
          <Button onPress={() => unsaved.discard(onClose)}>Take the stored version</Button>
          <Button className="button primary" onPress={() => void form.save()}>
            {form.isSaving ? 'Saving…' : 'Save this version'}
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
          <p role="alert" className="row newer">
            {newer === null && 'Deleted by someone else.'}
            {newer != null && (
              <>
                <ChangedBy resource={resource} row={newer} />
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

function ChangedBy({ resource: { noun }, row: { id, version } }: { resource: Resource; row: Row }) {
  const actor = useActor(noun, id, version)
  return (
    <span>
      Changed by <bdi translate="no">{actor ?? 'someone else'}</bdi>.
    </span>
  )
}
