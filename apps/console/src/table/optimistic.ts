import { create } from 'zustand'
import type { Noun, Row } from '../resources/resource.ts'

interface Pending {
  noun: Noun
  id: number
  apply: (row: Row) => Row | undefined
  /** The procedure that was called, of an action that must not run twice. */
  verb: string | undefined
}

const usePending = create<Pending[]>(() => [])
// The stored record of a row with optimistic changes.
const stored = new WeakMap<Row, Row>()

/**
 * Shows a change to a record before the service has responded. The cached record is unchanged, so one change can be
 * reverted without affecting others.
 *
 * @param apply returns the changed record, or undefined if it is deleted
 * @returns a function that ends the optimistic change: after a rejection, or after the stored record was read
 */
export function applyOptimistically(noun: Noun, id: number, apply: Pending['apply'], verb?: string): () => void {
  const change = { noun, id, apply, verb }
  usePending.setState((all) => [...all, change], true)
  return () => usePending.setState((all) => all.filter((other) => other !== change), true)
}

/** A row without its optimistic changes, which the service may still reject. */
export function storedOf(row: Row): Row {
  return stored.get(row) ?? row
}

/** Rows with optimistic changes applied, and whether an action on a record waits for its answer. */
export function useOptimisticRows(noun: Noun, rows: Row[]) {
  const own = usePending().filter((change) => change.noun === noun)
  const shown = rows.flatMap((row) => {
    let next: Row | undefined = row
    for (const { id, apply } of own) if (next !== undefined && id === row.id) next = apply(next)
    if (next !== undefined && next !== row) stored.set(next, row)
    return next ?? []
  })
  const isPending = (id: number, verb: string) => own.some((change) => change.id === id && change.verb === verb)
  return { shown, isPending }
}
