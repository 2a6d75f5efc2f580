import { VersionMismatchError } from '@resource/client'
import { useState } from 'react'
import type { Conflict } from '../conflict/conflict.ts'
import { calls } from '../resources/calls.ts'
import { type Action, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { errorMessage, formatCount } from '../ui/format.ts'
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

interface Failed {
  row: Row
  error: unknown
}

/**
 * Runs an action on records. The result shows at once and is reverted if the service rejects the action. A version
 * mismatch of a single record opens the conflict dialog; with several records, failures are counted.
 */
export function useChanges(resource: Resource) {
  const [conflict, setConflict] = useState<Conflict>()

  const act = async (action: Action, rows: Row[], version?: number) => {
    const done: Row[] = []
    const failed: Failed[] = []
    const one = async (row: Row) => {
      const settle = applyOptimistically(resource.noun, row.id, action.apply)
      try {
        await action.send(row, version ?? row.version)
        done.push(row)
        return settle
      } catch (error) {
        settle()
        failed.push({ row, error })
      }
    }
    const settles = await Promise.all(rows.map(one))
    const [firstFailure] = failed
    if (rows.length === 1 && firstFailure?.error instanceof VersionMismatchError) {
      setConflict(await conflictOf(resource, action, firstFailure.row))
    } else {
      report(resource, action, done, failed)
    }
    await refresh(resource)
    for (const settle of settles) settle?.()
  }

  return {
    act,
    conflict,
    keepStored: () => setConflict(undefined),
    overwrite: async ({ action, row, stored }: Conflict) => {
      setConflict(undefined)
      await act(action, [row], stored.version)
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

function report(resource: Resource, action: Action, done: Row[], failed: Failed[]) {
  const name = (rows: Row[]) =>
    rows.length === 1 && rows[0] !== undefined ? nameOf(resource, rows[0]) : formatCount(rows.length, resource)
  if (done.length > 0) notify('done', `${name(done)} ${action.done}`)
  if (failed.length > 0) {
    notify('failed', `${name(failed.map(({ row }) => row))} not ${action.done}. ${errorMessage(failed[0]?.error)}`)
  }
}
