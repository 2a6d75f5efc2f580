import { ServiceError, VersionMismatchError } from '@resource/client'
import { useState } from 'react'
import { calls } from '../resources/calls.ts'
import { type Draft, draftOf, type Field, faultsOf, inputOf, sentence } from '../resources/field.ts'
import { editVerb, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { showEarly } from '../table/pending.ts'
import { refresh } from '../table/rows.ts'
import { useIsMounted } from '../ui/mounted.ts'
import { notify } from '../ui/notices.ts'
import { wordsOf } from '../ui/words.ts'

/** The state of a record's form: checked by the contract before it is sent, and by the service's answer after. */
export function useRecordForm(resource: Resource, seen: Row | undefined, onSaved: () => void) {
  const { get, create, [editVerb(resource.noun)]: edit } = calls(resource.noun)
  const fields = seen === undefined ? resource.createFields : resource.editFields
  const [base, setBase] = useState(seen)
  const [draft, setDraft] = useState<Draft>(() => draftOf(fields, seen))
  const [faults, setFaults] = useState<Record<string, string>>({})
  const [failure, setFailure] = useState<string>()
  const [stored, setStored] = useState<Row>()
  const [isSaving, setSaving] = useState(false)
  const [submissions, setSubmissions] = useState(0)
  const isOpen = useIsMounted()
  const input = inputOf(sentFields(resource, fields, draft, base), draft)

  const refuse = (next: Record<string, string>) => {
    setFaults(next)
    setSubmissions((count) => count + 1)
  }

  const failed = async (error: unknown) => {
    if (!isOpen.current) {
      const name = base === undefined ? `The ${resource.one}` : nameOf(resource, base)
      notify('failed', `${name} was not saved. ${wordsOf(error)}`)
      return
    }
    if (error instanceof VersionMismatchError && base !== undefined) {
      await get.query({ id: base.id }).then(setStored, (reason) => setFailure(wordsOf(reason)))
      return
    }
    const named = error instanceof ServiceError ? namedFaults(fields, error) : {}
    setStored(undefined)
    if (Object.keys(named).length === 0) setFailure(wordsOf(error))
    refuse(named)
  }

  /** @param version the one to write over, where it is not the one the form began with */
  const save = async (version?: number) => {
    if (isSaving) return
    const wrong = faultsOf(fields, draft)
    setFailure(undefined)
    if (Object.keys(wrong).length > 0) return refuse(wrong)
    if (Object.keys(input).length === 0) return onSaved()
    setSaving(true)
    const settle = base && showEarly(resource.noun, base.id, (row) => ({ ...row, ...input }))
    try {
      const saved =
        base === undefined
          ? await create.mutate(input)
          : await edit.mutate({ ...input, id: base.id, if_version: version ?? base.version })
      notify('done', `${nameOf(resource, saved)} ${base === undefined ? 'created' : 'saved'}`)
      if (isOpen.current) onSaved()
      await refresh(resource)
    } catch (error) {
      settle?.()
      await failed(error)
    } finally {
      settle?.()
      setSaving(false)
    }
  }

  return {
    fields,
    draft,
    faults,
    failure,
    input,
    isSaving,
    stored,
    submissions,
    save,
    set: (name: string, text: string) => {
      const next = { ...draft, [name]: text }
      setDraft(next)
      // What was called wrong is called right as soon as it is.
      if (faults[name] !== undefined) {
        const fault = faultsOf(fields, next)[name]
        setFaults(Object.fromEntries(Object.entries({ ...faults, [name]: fault }).filter(isFault)))
      }
    },
    editStored: () => {
      setBase(stored)
      setDraft(draftOf(fields, stored))
      setFaults({})
      setStored(undefined)
    },
  }
}

// Where the contract changes field by field, only what was edited goes: what someone else edited beside it stays.
function sentFields({ noun }: Resource, fields: Field[], draft: Draft, base: Row | undefined): Field[] {
  if (base === undefined || editVerb(noun) === 'replace') return fields
  const before = draftOf(fields, base)
  return fields.filter(({ name }) => draft[name] !== before[name])
}

function isFault(entry: [string, string | undefined]): entry is [string, string] {
  return entry[1] !== undefined
}

function namedFaults(fields: Field[], error: ServiceError): Record<string, string> {
  const known = new Map(fields.map((field) => [field.name, field]))
  return Object.fromEntries(
    error.fields.flatMap(({ field: name, message }) => {
      const field = known.get(name)
      return field === undefined ? [] : [[name, sentence(field, message)]]
    }),
  )
}
