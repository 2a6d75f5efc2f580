import { create } from 'zustand'
import type { Noun, Row } from '../resources/resource.ts'

interface Pending {
  noun: Noun
  id: number
  apply: (row: Row) => Row | undefined
}

const usePending = create<Pending[]>(() => [])

/**
 * Shows a record as it will be before the service has answered. What was read stays as it is underneath, so that taking
 * one change back leaves the others.
 *
 * @param apply the record as it will be, or nothing when it will be gone
 * @returns ends it, when the service has refused or what it stored has been read
 */
export function showEarly(noun: Noun, id: number, apply: Pending['apply']): () => void {
  const change = { noun, id, apply }
  usePending.setState((all) => [...all, change], true)
  return () => usePending.setState((all) => all.filter((other) => other !== change), true)
}

/** Rows as they will be, and the ids of those that await their answer. */
export function useEarly(noun: Noun, rows: Row[]): { shown: Row[]; awaiting: Set<number> } {
  const own = usePending().filter((change) => change.noun === noun)
  const shown = rows.flatMap((row) => {
    let next: Row | undefined = row
    for (const { id, apply } of own) if (next !== undefined && id === row.id) next = apply(next)
    return next ?? []
  })
  return { shown, awaiting: new Set(own.map(({ id }) => id)) }
}
