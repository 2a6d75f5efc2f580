import type { Column, ColumnKind, Resource } from '../resources/resource.ts'
import { usePreferences } from '../ui/preferences.ts'

/** Words and the names of other records come first, then numbers, then times. */
const RANKS: { [K in ColumnKind]?: number } = { number: 1, date: 2, time: 2 }

/** The columns that this browser shows of a resource, those of a kind in the order of its fields. The name is always one of them. */
export function useColumns({ noun, columns, recordColumns, nameField }: Resource) {
  const chosen = usePreferences((preferences) => preferences.columns[noun])
  const initial = columns.map(({ field }) => field)
  const names = chosen ?? initial
  const set = (next: string[] | undefined) =>
    usePreferences.setState(({ columns: all }) => ({ columns: { ...all, [noun]: next } }))
  const isShown = ({ field }: Column) => field === nameField || names.includes(field)
  return {
    shown: recordColumns.filter(isShown).toSorted((a, b) => rankOf(a) - rankOf(b)),
    isShown,
    isInitial: chosen === undefined,
    toggle: (field: string) => set(names.includes(field) ? names.filter((name) => name !== field) : [...names, field]),
    reset: () => set(undefined),
  }
}

function rankOf({ kind, refersTo }: Column): number {
  return refersTo === undefined ? (RANKS[kind] ?? 0) : 0
}
