import { useSyncExternalStore } from 'react'
import type { Noun, Row } from '../resources/resource.ts'

interface Pending {
  noun: Noun
  id: number
  apply: (row: Row) => Row | undefined
}

let pending: Pending[] = []
const listeners = new Set<() => void>()

/**
 * Shows a record as it will be before the service has answered. What was read stays as it is underneath, so that taking
 * one change back leaves the others.
 *
 * @param apply the record as it will be, or nothing when it will be gone
 * @returns ends it, when the service has refused or what it stored has been read
 */
export function showEarly(noun: Noun, id: number, apply: Pending['apply']): () => void {
  const change = { noun, id, apply }
  set([...pending, change])
  return () => set(pending.filter((other) => other !== change))
}

/** Rows as they will be, and the ids of those that await their answer. */
export function useEarly(noun: Noun, rows: Row[]): { shown: Row[]; awaiting: Set<number> } {
  const all = useSyncExternalStore(subscribe, () => pending)
  const own = all.filter((change) => change.noun === noun)
  const shown = rows.flatMap((row) => {
    let next: Row | undefined = row
    for (const { id, apply } of own) if (next !== undefined && id === row.id) next = apply(next)
    return next ?? []
  })
  return { shown, awaiting: new Set(own.map(({ id }) => id)) }
}

function set(next: Pending[]) {
  pending = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
