import { ServiceError, VersionMismatchError } from '@resource/client'
import { useEffect, useState } from 'react'
import { changedBy, type Side, type Versions } from '../conflict/merge.ts'
import { calls, writes } from '../resources/calls.ts'
import { type Draft, draftErrors, draftOf, type Field, fieldMessage, inputOf } from '../resources/field.ts'
import { editVerb, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { useSession } from '../session/session.ts'
import { addEdit } from '../table/history.ts'
import { useNewer } from '../table/live.ts'
import { applyOptimistically } from '../table/optimistic.ts'
import { refresh } from '../table/queries.ts'
import { inTurn, latestOf, noteWrite } from '../table/turns.ts'
import { linkTo } from '../table/view.ts'
import { errorMessage, isOutage } from '../ui/format.ts'
import { useIsMounted } from '../ui/mounted.ts'
import { notify } from '../ui/notices.ts'
import { rejectedForms, type UnansweredRequests } from '../ui/rejected-forms.ts'
import { release } from '../ui/unsaved.ts'

const MERGED = 'saved and merged'

/** The state of a record's form. Errors come from the contract before sending, and from the service after. */
export function useRecordForm(resource: Resource, seen: Row | undefined, onSaved: () => void) {
  const { create, [editVerb(resource.noun)]: edit } = writes(resource.noun)
  const fields = seen === undefined ? resource.createFields : resource.editFields
  const [base, setBase] = useState(seen)
  const formKey = `${resource.noun}/${seen?.id ?? 'new'}`
  const [rejected] = useState(() => rejectedForms.get(formKey))
  const [draft, setDraft] = useState<Draft>(() => ({ ...draftOf(fields, seen), ...rejected?.edited }))
  // A request without an answer may have been carried out. Sent again with its key, it has no second effect.
  const [unanswered] = useState((): UnansweredRequests => rejected?.unanswered ?? new Map())
  const [errors, setErrors] = useState<Record<string, string>>({})
  const [failure, setFailure] = useState<string>()
  const [conflict, setConflict] = useState<Versions & { typed: Draft }>()
  const [isSaving, setSaving] = useState(false)
  const [submissions, setSubmissions] = useState(0)
  const isOpen = useIsMounted()
  const newer = useNewer(resource.noun, base)
  const unchanged = draftOf(fields, base)
  const edited = Object.fromEntries(Object.entries(draft).filter(([name, text]) => text !== unchanged[name]))
  const isChanged = Object.keys(edited).length > 0
  // If the contract has a partial update, only edited fields are sent, so that other users' changes to other fields remain.
  const changes = inputOf(
    fields.filter(({ name }) => name in edited),
    draft,
  )
  const inputFor = (row: Row | undefined) => {
    if (row !== undefined && editVerb(resource.noun) === 'update') return changes
    return { ...inputOf(fields, draftOf(fields, row)), ...(row === undefined ? inputOf(fields, draft) : changes) }
  }

  useEffect(() => {
    rejectedForms.delete(formKey)
  }, [formKey])

  const reject = (next: Record<string, string>) => {
    setErrors(next)
    setSubmissions((count) => count + 1)
  }

  const versionsOf = (opened: Row, stored: Row): Versions => ({ opened, stored, mine: { ...opened, ...changes } })

  /** The form goes on from the stored record, with what was typed. */
  const rebase = (stored: Row) => {
    if (base === undefined) return
    setConflict({ ...versionsOf(base, stored), typed: edited })
    setBase(stored)
    setDraft({ ...draftOf(fields, stored), ...edited })
  }

  const failed = async (error: unknown) => {
    if (!isOpen.current) {
      const name = base === undefined ? `The ${resource.one}` : nameOf(resource, base)
      rejectedForms.set(formKey, { edited, unanswered })
      const link = { label: 'Open the form', href: linkTo(resource.noun, base?.id ?? 'new') }
      notify('failed', `${name} was not saved. ${errorMessage(error)}`, { link })
      return
    }
    if (error instanceof VersionMismatchError && base !== undefined) {
      const merge = async (stored: Row) => {
        const versions = versionsOf(base, stored)
        const isAsked = Object.keys(changes).some((name) => changedBy(versions, name) === 'both')
        if (isAsked) rebase(stored)
        else await save(stored)
      }
      const stored = calls(resource.noun).get.query({ id: base.id })
      return stored.then(merge, (reason) => setFailure(errorMessage(reason)))
    }
    const named = error instanceof ServiceError ? fieldErrors(fields, error) : {}
    setConflict(undefined)
    if (Object.keys(named).length === 0) setFailure(errorMessage(error))
    reject(named)
  }

  /** @param from the record to save to: as the form began with it, or as others have stored it since in other fields */
  const save = async (from = base) => {
    if (isSaving) return
    const invalid = draftErrors(fields, draft)
    setFailure(undefined)
    if (Object.keys(invalid).length > 0) return reject(invalid)
    if (base !== undefined && !isChanged) return onSaved()
    const caller = useSession.getState().session?.name
    const sentAs = (request: object) => unanswered.get(JSON.stringify(request))
    const earlier = base === undefined ? sentAs(inputFor(undefined)) : undefined
    if (earlier !== undefined && earlier.caller !== caller) {
      // For another caller the service does not recognize the idempotency key.
      unanswered.delete(JSON.stringify(inputFor(undefined)))
      return setFailure(
        `Another API key sent this ${resource.one}, so it may exist already. Check before you create it again.`,
      )
    }
    setSaving(true)
    const settle = from && applyOptimistically(resource.noun, from.id, (row) => ({ ...row, ...changes }))
    let json = ''
    const written = inTurn(resource.noun, from === undefined ? [] : [from.id], async () => {
      const before = from && latestOf(resource.noun, from)
      const input = inputFor(before)
      const request = before === undefined ? input : { ...input, id: before.id, if_version: before.version }
      json = JSON.stringify(request)
      const saved = await (before === undefined ? create : edit).mutate(request, {
        idempotencyKey: sentAs(request)?.key,
      })
      if (before !== undefined) noteWrite(resource.noun, before, saved)
      return { request: saved, changes: [{ before: before ?? null, after: saved }], count: 1, id: saved.id }
    })
    const announce = addEdit(resource, base ? 'saved' : 'created', base ? [base.id] : [], written)
    try {
      const { id } = await written
      if (isOpen.current) {
        release()
        onSaved()
      }
      await announce({ label: 'Show', href: `/${resource.noun}/${id}` }, from === base ? undefined : MERGED)
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
    isChanged,
    isSaving,
    conflict,
    /** What somebody else made of the record since the form began with it. */
    newer,
    /** Shows the versions side by side. */
    compare: rebase,
    submissions,
    save: () => save(),
    set: (name: string, text: string) => {
      const next = { ...draft, [name]: text }
      setDraft(next)
      // Removes an error as soon as the value is valid.
      if (errors[name] !== undefined) {
        const error = draftErrors(fields, next)[name]
        setErrors(Object.fromEntries(Object.entries({ ...errors, [name]: error }).filter(isFieldError)))
      }
    },
    /** Takes a value of the stored version, or what was typed. */
    choose: (name: string, side: Side) => {
      const taken = side === 'mine' ? conflict?.typed[name] : unchanged[name]
      setDraft({ ...draft, [name]: taken ?? '' })
    },
    sideOf: (name: string): Side => (draft[name] === unchanged[name] ? 'stored' : 'mine'),
    /** Returns to the form, which has what was typed and the stored values of the other fields. */
    keepEditing: () => setConflict(undefined),
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
