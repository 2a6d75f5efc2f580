import { VersionMismatchError } from '@resource/client'
import { useState } from 'react'
import type { Conflict } from '../conflict/conflict.ts'
import { calls } from '../resources/calls.ts'
import { type Action, editVerb, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { errorMessage, formatCount, isUnanswered } from '../ui/format.ts'
import { useIsMounted } from '../ui/mounted.ts'
import { notify } from '../ui/notices.ts'
import { applyOptimistically } from './optimistic.ts'
import { refresh } from './rows.ts'

/** Deletion as an action. */
export function deletion({ noun }: Resource): Action {
  return {
    label: 'Delete',
    verb: 'delete',
    done: 'deleted',
    isFor: () => true,
    apply: () => undefined,
    send: ({ id }, if_version) => calls(noun).delete.mutate({ id, if_version }),
  }
}

/** A change of one field as an action, which can be undone. */
export function cellEdit(resource: Resource, field: string, value: unknown): Action {
  const { noun, editFields } = resource
  const { [editVerb(noun)]: edit } = calls(noun)
  return {
    label: 'Save',
    verb: editVerb(noun),
    done: 'saved',
    isFor: () => true,
    apply: (row) => ({ ...row, [field]: value }),
    send: ({ id, ...row }, if_version) => {
      // A replacement takes all fields.
      const kept = editVerb(noun) === 'replace' ? editFields.map(({ name }) => [name, row[name]]) : []
      return edit.mutate({ ...Object.fromEntries(kept), [field]: value, id, if_version })
    },
    undo: (before) => ({ ...cellEdit(resource, field, before[field]), done: 'restored' }),
  }
}

interface Done {
  row: Row
  /** The response. */
  saved: unknown
}

interface Failed {
  row: Row
  error: unknown
}

/**
 * Runs an action on records. The result shows at once and is reverted if the service rejects the action. A version
 * mismatch of a single record opens the conflict dialog; with several records, failures are counted.
 *
 * @param onDone is called after the service has accepted an action on at least one record
 */
export function useChanges(resource: Resource, onDone?: (action: Action) => void) {
  // Two records may be edited before the first answer. The conflicts are asked one after the other.
  const [conflicts, setConflicts] = useState<Conflict[]>([])
  const isShown = useIsMounted()

  const undoOf = (action: Action, done: Done[]) => {
    const [only] = done
    const undo = done.length === 1 && only !== undefined ? action.undo?.(only.row) : undefined
    // The response is the record with its new version.
    return undo && (() => void act(undo, [only?.saved as Row]))
  }

  const act = async (action: Action, rows: Row[]) => {
    const done: Done[] = []
    const failed: Failed[] = []
    const one = async (row: Row) => {
      const settle = applyOptimistically(resource.noun, row.id, action.apply)
      try {
        done.push({ row, saved: await action.send(row, row.version) })
        return settle
      } catch (error) {
        settle()
        failed.push({ row, error })
      }
    }
    const settles = await Promise.all(rows.map(one))
    const [firstFailure] = failed
    if (isShown.current && rows.length === 1 && firstFailure?.error instanceof VersionMismatchError) {
      const conflict = await conflictOf(resource, action, firstFailure.row)
      if (conflict !== undefined) setConflicts((others) => [...others, conflict])
    } else {
      report(resource, action, done, failed, undoOf(action, done))
    }
    if (done.length > 0) onDone?.(action)
    await refresh(resource)
    for (const settle of settles) settle?.()
  }

  const closeConflict = () => setConflicts(([, ...others]) => others)
  return {
    act,
    conflict: conflicts[0],
    keepStored: closeConflict,
    overwrite: async ({ action, stored }: Conflict) => {
      closeConflict()
      await act(action, [stored])
    },
  }
}

async function conflictOf(resource: Resource, action: Action, row: Row): Promise<Conflict | undefined> {
  try {
    return { action, row, stored: await calls(resource.noun).get.query({ id: row.id }) }
  } catch (error) {
    notify('failed', `${nameOf(resource, row)} not ${action.done}. ${errorMessage(error)}`)
    return undefined
  }
}

function report(resource: Resource, action: Action, done: Done[], failed: Failed[], undo?: () => void) {
  const name = (changes: { row: Row }[]) =>
    changes.length === 1 && changes[0] !== undefined
      ? nameOf(resource, changes[0].row)
      : formatCount(changes.length, resource)
  if (done.length > 0) notify('done', `${name(done)} ${action.done}`, undo)
  if (failed.length > 0) {
    const error = failed[0]?.error
    const outcome = isUnanswered(error) ? `may not be ${action.done}: the result is unknown` : `not ${action.done}`
    notify('failed', `${name(failed)} ${outcome}. ${errorMessage(error)}`)
  }
}
