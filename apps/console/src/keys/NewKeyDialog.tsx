import { ServiceError } from '@resource/client'
import { contract } from '@resource/contract'
import { useEffect, useRef, useState } from 'react'
import { writer } from '../client.ts'
import { FieldInput } from '../form/FieldInput.tsx'
import {
  type Draft,
  draftErrors,
  draftOf,
  type Field,
  fieldMessage,
  fieldOf,
  inputOf,
  startOfDate,
} from '../resources/field.ts'
import { Button } from '../ui/Button.tsx'
import { ModalDialog } from '../ui/ModalDialog.tsx'
import { useAct } from '../ui/use-act.tsx'
import type { NewKey } from './key.ts'

const { input } = contract.keys.procedures.create
const { shape } = input
const FIELDS = [
  fieldOf('name', 'Name', shape.name),
  fieldOf('role', 'Role', shape.role),
  fieldOf('owner', 'Owner', shape.owner),
]
const EXPIRY: Field = { ...fieldOf('expires_at', 'Expires', shape.expires_at), kind: 'date' }
const HINTS: Record<string, string> = {
  name: 'who or what uses it',
  owner: 'who answers for it, optional',
  expires_at: 'never, if empty',
}

interface NewProps {
  /** Whether there is no other key: this one then closes the service to requests without a key. */
  isFirst: boolean
  onMade: (made: NewKey) => void
  onClose: () => void
}

/** The form of a new key. */
export function NewKeyDialog({ isFirst, onMade, onClose }: NewProps) {
  const [draft, setDraft] = useState<Draft>({ ...draftOf(FIELDS), role: isFirst ? 'admin' : 'reader', expires_at: '' })
  const [errors, setErrors] = useState<Record<string, string>>({})
  const form = useRef<HTMLFormElement>(null)
  const { failure, isBusy, act } = useAct()

  useEffect(() => {
    if (Object.keys(errors).length > 0) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [errors])

  const create = async () => {
    const invalid = draftErrors(FIELDS, draft)
    setErrors(invalid)
    if (Object.keys(invalid).length > 0) return
    const { expires_at: date = '' } = draft
    const expires_at = date === '' ? null : startOfDate(date)
    try {
      onMade(await writer.keys.create.mutate(input.parse({ ...inputOf(FIELDS, draft), expires_at })))
    } catch (error) {
      const [fault] = error instanceof ServiceError ? error.fields : []
      const field = [...FIELDS, EXPIRY].find(({ name }) => name === fault?.field)
      if (field === undefined || fault === undefined) throw error
      setErrors({ [field.name]: fieldMessage(field, fault.message) })
    }
  }

  return (
    <ModalDialog title="New key" onClose={onClose}>
      <form
        ref={form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void act(create)
        }}
      >
        {isFirst && <p>This is the first key. From then on, every request needs one, and this page logs in with it.</p>}
        {failure}
        {[...FIELDS, EXPIRY].map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            value={draft[field.name] ?? ''}
            onChange={(text) => setDraft({ ...draft, [field.name]: text })}
            error={errors[field.name]}
            hint={HINTS[field.name]}
          />
        ))}
        <footer>
          <Button onPress={onClose}>Cancel</Button>
          <Button className="button primary" type="submit">
            {isBusy ? 'Creating…' : 'Create key'}
          </Button>
        </footer>
      </form>
    </ModalDialog>
  )
}
