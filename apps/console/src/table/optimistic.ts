import { create } from 'zustand'
import type { Noun, Row } from '../resources/resource.ts'

interface Pending {
  noun: Noun
  id: number
  apply: (row: Row) => Row | undefined
}

const usePending = create<Pending[]>(() => [])

/**
 * Shows a change to a record before the service has responded. The cached record is unchanged, so one change can be
 * reverted without affecting others.
 *
 * @param apply returns the changed record, or undefined if it is deleted
 * @returns a function that ends the optimistic change: after a rejection, or after the stored record was read
 */
export function applyOptimistically(noun: Noun, id: number, apply: Pending['apply']): () => void {
  const change = { noun, id, apply }
  usePending.setState((all) => [...all, change], true)
  return () => usePending.setState((all) => all.filter((other) => other !== change), true)
}

/** Rows with optimistic changes applied, and the ids of records with a pending request. */
export function useOptimisticRows(noun: Noun, rows: Row[]): { shown: Row[]; pendingIds: Set<number> } {
  const own = usePending().filter((change) => change.noun === noun)
  const shown = rows.flatMap((row) => {
    let next: Row | undefined = row
    for (const { id, apply } of own) if (next !== undefined && id === row.id) next = apply(next)
    return next ?? []
  })
  return { shown, pendingIds: new Set(own.map(({ id }) => id)) }
}
