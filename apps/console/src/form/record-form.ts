import { ServiceError, VersionMismatchError } from '@resource/client'
import { useEffect, useState } from 'react'
import { calls } from '../resources/calls.ts'
import { type Draft, draftErrors, draftOf, type Field, fieldMessage, inputOf } from '../resources/field.ts'
import { editVerb, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { useSession } from '../session/session.ts'
import { applyOptimistically } from '../table/optimistic.ts'
import { refresh } from '../table/rows.ts'
import { linkTo } from '../table/view.ts'
import { errorMessage, isOutage } from '../ui/format.ts'
import { useIsMounted } from '../ui/mounted.ts'
import { notify } from '../ui/notices.ts'
import { rejectedForms, type UnansweredRequests } from '../ui/rejected-forms.ts'
import { release } from '../ui/unsaved.ts'

/** The state of a record's form. Errors come from the contract before sending, and from the service after. */
export function useRecordForm(resource: Resource, seen: Row | undefined, onSaved: () => void) {
  const { get, create, [editVerb(resource.noun)]: edit } = calls(resource.noun)
  const fields = seen === undefined ? resource.createFields : resource.editFields
  const [base, setBase] = useState(seen)
  const formKey = `${resource.noun}/${seen?.id ?? 'new'}`
  const [rejected] = useState(() => rejectedForms.get(formKey))
  const [draft, setDraft] = useState<Draft>(() => ({ ...draftOf(fields, seen), ...rejected?.edited }))
  // A request without an answer may have been carried out. Sent again with its key, it has no second effect.
  const [unanswered] = useState((): UnansweredRequests => rejected?.unanswered ?? new Map())
  const [errors, setErrors] = useState<Record<string, string>>({})
  const [failure, setFailure] = useState<string>()
  const [stored, setStored] = useState<Row>()
  const [isSaving, setSaving] = useState(false)
  const [submissions, setSubmissions] = useState(0)
  const isOpen = useIsMounted()
  const unchanged = draftOf(fields, base)
  const edited = Object.fromEntries(Object.entries(draft).filter(([name, text]) => text !== unchanged[name]))
  const isChanged = Object.keys(edited).length > 0
  // If the contract has a partial update, only edited fields are sent, so that other users' changes to other fields remain.
  const isPartial = base !== undefined && editVerb(resource.noun) === 'update'
  const input = inputOf(isPartial ? fields.filter(({ name }) => name in edited) : fields, draft)

  useEffect(() => {
    rejectedForms.delete(formKey)
  }, [formKey])

  const reject = (next: Record<string, string>) => {
    setErrors(next)
    setSubmissions((count) => count + 1)
  }

  const failed = async (error: unknown) => {
    if (!isOpen.current) {
      const name = base === undefined ? `The ${resource.one}` : nameOf(resource, base)
      rejectedForms.set(formKey, { edited, unanswered })
      notify('failed', `${name} was not saved. ${errorMessage(error)}`, {
        label: 'Open the form',
        href: linkTo(resource.noun, base?.id ?? 'new'),
      })
      return
    }
    if (error instanceof VersionMismatchError && base !== undefined) {
      await get.query({ id: base.id }).then(setStored, (reason) => setFailure(errorMessage(reason)))
      return
    }
    const named = error instanceof ServiceError ? fieldErrors(fields, error) : {}
    setStored(undefined)
    if (Object.keys(named).length === 0) setFailure(errorMessage(error))
    reject(named)
  }

  /** @param version version to overwrite, if it is not the one with which the form started */
  const save = async (version?: number) => {
    if (isSaving) return
    const invalid = draftErrors(fields, draft)
    setFailure(undefined)
    if (Object.keys(invalid).length > 0) return reject(invalid)
    if (Object.keys(input).length === 0) return onSaved()
    const request = base === undefined ? input : { ...input, id: base.id, if_version: version ?? base.version }
    const json = JSON.stringify(request)
    const caller = useSession.getState().session?.name
    const earlier = unanswered.get(json)
    if (base === undefined && earlier !== undefined && earlier.caller !== caller) {
      // For another caller the service does not recognize the idempotency key.
      unanswered.delete(json)
      return setFailure(
        `Another API key sent this ${resource.one}, so it may exist already. Check before you create it again.`,
      )
    }
    setSaving(true)
    const settle = base && applyOptimistically(resource.noun, base.id, (row) => ({ ...row, ...input }))
    try {
      const saved = await (base === undefined ? create : edit).mutate(request, { idempotencyKey: earlier?.key })
      notify('done', `${nameOf(resource, saved)} ${base === undefined ? 'created' : 'saved'}`, {
        label: 'Show',
        href: `/${resource.noun}/${saved.id}`,
      })
      if (isOpen.current) {
        release()
        onSaved()
      }
      await refresh(resource)
    } catch (error) {
      settle?.()
      if (isOutage(error)) unanswered.set(json, { key: error.idempotencyKey, caller })
      await failed(error)
    } finally {
      settle?.()
      setSaving(false)
    }
  }

  return {
    fields,
    draft,
    errors,
    failure,
    input,
    isChanged,
    isSaving,
    stored,
    submissions,
    save,
    set: (name: string, text: string) => {
      const next = { ...draft, [name]: text }
      setDraft(next)
      // Removes an error as soon as the value is valid.
      if (errors[name] !== undefined) {
        const error = draftErrors(fields, next)[name]
        setErrors(Object.fromEntries(Object.entries({ ...errors, [name]: error }).filter(isFieldError)))
      }
    },
    editStored: () => {
      setBase(stored)
      setDraft(draftOf(fields, stored))
      setErrors({})
      setStored(undefined)
    },
  }
}

function isFieldError(entry: [string, string | undefined]): entry is [string, string] {
  return entry[1] !== undefined
}

function fieldErrors(fields: Field[], error: ServiceError): Record<string, string> {
  const known = new Map(fields.map((field) => [field.name, field]))
  return Object.fromEntries(
    error.fields.flatMap(({ field: name, message }) => {
      const field = known.get(name)
      return field === undefined ? [] : [[name, fieldMessage(field, message)]]
    }),
  )
}
