import { VersionMismatchError } from '@resource/client'
import { useState } from 'react'
import { calls, writes } from '../resources/calls.ts'
import { describeChange } from '../resources/describe-change.ts'
import { type Action, editVerb, isChange, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { errorMessage, isUnanswered } from '../ui/format.ts'
import { useIsMounted } from '../ui/mounted.ts'
import { notify } from '../ui/notices.ts'
import { addEdit } from './history.ts'
import { applyOptimistically, storedOf } from './optimistic.ts'
import { refresh } from './queries.ts'
import { inTurn, latestOf, noteWrite } from './turns.ts'

/** A write to a record that changed since the user read it. */
export interface Conflict {
  action: Action
  /** The version that the user saw, with the earlier writes of this page. */
  row: Row
  /** The version stored now. */
  stored: Row
}

/** Deletion as an action. */
export function deletion({ noun }: Resource): Action {
  return {
    label: 'Delete',
    verb: 'delete',
    done: 'deleted',
    isFor: () => true,
    apply: () => undefined,
    send: ({ id }, if_version) => writes(noun).delete.mutate({ id, if_version }),
  }
}

/** A change of one field as an action. */
export function cellEdit({ noun, editFields }: Resource, field: string, value: unknown): Action {
  const { [editVerb(noun)]: edit } = writes(noun)
  return {
    label: 'Save',
    verb: editVerb(noun),
    done: 'saved',
    isFor: () => true,
    changes: { [field]: value },
    apply: (row) => ({ ...row, [field]: value }),
    send: ({ id, ...row }, if_version) => {
      // A replacement takes all fields.
      const kept = editVerb(noun) === 'replace' ? editFields.map(({ name }) => [name, row[name]]) : []
      return edit.mutate({ ...Object.fromEntries(kept), [field]: value, id, if_version })
    },
  }
}

/**
 * Runs an action on a record, after the earlier ones on it. The result shows at once and is reverted if the service rejects the
 * action. A version mismatch opens the conflict dialog.
 *
 * @param onDone is called after the service has accepted an action
 */
export function useChanges(resource: Resource, onDone?: (action: Action, row: Row) => void) {
  const { noun } = resource
  // Two records may be edited before the first answer. The conflicts are asked one after the other.
  const [conflicts, setConflicts] = useState<Conflict[]>([])
  const isShown = useIsMounted()

  const act = async (action: Action, shown: Row) => {
    const seen = storedOf(shown)
    const settle = applyOptimistically(noun, seen.id, action.apply, action.verb)
    const written = inTurn(noun, [seen.id], async () => {
      const before = latestOf(noun, seen)
      const answer = await action.send(before, before.version)
      const after = isChange(action) ? { ...before, ...action.apply(before), ...answer } : null
      if (after !== null) noteWrite(noun, before, after)
      return { request: answer, changes: [{ before, after }], count: 1 }
    })
    const announce = addEdit(resource, action.done, [seen.id], written)
    try {
      await written
      await announce()
      onDone?.(action, seen)
    } catch (error) {
      settle()
      await failed(action, latestOf(noun, seen), error)
    }
    await refresh(resource)
    settle()
  }

  const failed = async (action: Action, row: Row, error: unknown) => {
    const name = nameOf(resource, row)
    if (isShown.current && error instanceof VersionMismatchError) {
      try {
        const stored = await calls(noun).get.query({ id: row.id })
        return setConflicts((others) => [...others, { action, row, stored }])
      } catch (reason) {
        return notify('failed', `${name} not ${action.done}. ${errorMessage(reason)}`)
      }
    }
    const outcome = isUnanswered(error) ? `may not be ${action.done}: the result is unknown` : `not ${action.done}`
    // With the value, which is no longer in its input.
    const applied = action.apply(row)
    const tried = applied === undefined ? '' : ` (${describeChange(resource, row, applied)})`
    notify('failed', `${name} ${outcome}${tried}. ${errorMessage(error)}`, {
      ...(!isShown.current && { link: { label: 'Show', href: `/${noun}/${row.id}` } }),
    })
  }

  const closeConflict = () => setConflicts(([, ...others]) => others)
  return {
    act,
    conflict: conflicts[0],
    keepStored: closeConflict,
    overwrite: async ({ action, stored }: Conflict) => {
      closeConflict()
      await act(action, stored)
    },
  }
}
