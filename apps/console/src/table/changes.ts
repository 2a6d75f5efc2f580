import { NotFoundError, VersionMismatchError } from '@resource/client'
import { useState } from 'react'
import type { Conflict } from '../conflict/conflict.ts'
import { deleteRow, getRow } from '../resources/calls.ts'
import { type Action, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { notify } from '../shell/notices.ts'
import { counted, wordsOf } from '../ui/words.ts'
import { refresh, showEarly } from './rows.ts'

/** Deleting in the shape of a noun's own actions. */
export function deletion({ noun }: Resource): Action {
  return {
    label: 'Delete',
    done: 'deleted',
    isFor: () => true,
    apply: (row) => row,
    send: (row, version) => deleteRow(noun, row.id, version),
  }
}

/**
 * Does an action to records: shown at once, put back where the service refuses. One record that was changed by someone
 * else becomes a conflict to decide; of several, each that failed is counted.
 */
export function useChanges(resource: Resource) {
  const [conflict, setConflict] = useState<Conflict>()

  const act = async (action: Action, rows: Row[], version?: number) => {
    const undo = await showEarly(resource, applied(action, rows))
    const results = await Promise.allSettled(rows.map((row) => action.send(row, version ?? row.version)))
    const isDone = (row: Row) => results[rows.indexOf(row)]?.status === 'fulfilled'
    const done = rows.filter(isDone)
    const errors = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason as Error)
    if (errors.length > 0) {
      undo()
      await showEarly(resource, applied(action, done))
    }
    const [only] = rows
    if (rows.length === 1 && only !== undefined && errors[0] instanceof VersionMismatchError) {
      setConflict(await conflictOf(resource, action, only))
    } else {
      report(resource, action, rows, done, errors)
    }
    await refresh(resource)
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

function applied(action: Action, rows: Row[]) {
  const ids = new Set(rows.map(({ id }) => id))
  return (shown: Row[]) =>
    action.done === 'deleted'
      ? shown.filter(({ id }) => !ids.has(id))
      : shown.map((row) => (ids.has(row.id) ? action.apply(row) : row))
}

async function conflictOf(resource: Resource, action: Action, row: Row): Promise<Conflict | undefined> {
  try {
    return { action, row, stored: await getRow(resource.noun, row.id) }
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error
    notify('failed', `${nameOf(resource, row)}: it is no longer there.`)
    return undefined
  }
}

function report(resource: Resource, action: Action, rows: Row[], done: Row[], errors: Error[]) {
  const name = (list: Row[]) =>
    list.length === 1 && list[0] !== undefined ? nameOf(resource, list[0]) : counted(list.length, resource.many)
  if (done.length > 0) notify('done', `${name(done)} ${action.done}`)
  if (errors.length > 0) {
    const failed = rows.filter((row) => !done.includes(row))
    notify('failed', `${name(failed)} not ${action.done}. ${wordsOf(errors[0])}`)
  }
}
