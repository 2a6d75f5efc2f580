import { useState } from 'react'
import type { Row } from '../resources/resource.ts'
import { storedOf } from './optimistic.ts'

export type Selection = ReturnType<typeof useSelection>

/**
 * The selected rows, on all pages of a list.
 *
 * @param shown the rows of the page
 * @param list identifies the list; another one starts without a selection
 */
export function useSelection(shown: Row[], list: string) {
  const [state, setState] = useState({ list, rows: new Map<number, Row>(), last: 0, isEverything: false })
  const kept = state.list === list ? state.rows : new Map<number, Row>()
  const byId = new Map(shown.map((row) => [row.id, row]))
  // A row of this page as it is now.
  const rows = [...kept.values()].map((row) => byId.get(row.id) ?? row)
  const onPage = shown.filter(({ id }) => kept.has(id)).length
  const set = (next: Row[], last = 0) =>
    setState({ list, rows: new Map(next.map((row) => [row.id, storedOf(row)])), last, isEverything: false })
  const others = (removed: Iterable<number>) => {
    const ids = new Set(removed)
    return rows.filter(({ id }) => !ids.has(id))
  }
  return {
    rows,
    /** The number of selected rows on other pages. */
    elsewhere: rows.length - onPage,
    has: (id: number) => kept.has(id),
    isAll: shown.length > 0 && onPage === shown.length,
    isSome: onPage > 0 && onPage < shown.length,
    /** Whether all records that match the filters are selected, also those on other pages. */
    isEverything: state.list === list && state.isEverything && rows.length > 0,
    selectEverything: () => setState({ ...state, isEverything: true }),
    clear: () => set([]),
    /** Called after an answer, so it leaves a selection made meanwhile. */
    remove: (ids: number[]) =>
      setState((now) => {
        const removed = new Set(ids)
        return { ...now, rows: new Map([...now.rows].filter(([id]) => !removed.has(id))), isEverything: false }
      }),
    toggleAll: () => {
      const page = others(byId.keys())
      set(onPage === shown.length ? page : [...page, ...shown])
    },
    /** @param isRange whether to toggle all rows from the last toggled row to this one */
    toggle: (id: number, isRange: boolean) => {
      const range = isRange ? between(shown, state.last, id) : shown.filter((row) => row.id === id)
      set([...others(range.map((row) => row.id)), ...(kept.has(id) ? [] : range)], id)
    },
  }
}

function between(rows: Row[], from: number, to: number): Row[] {
  const ids = rows.map(({ id }) => id)
  const ends = [ids.indexOf(from), ids.indexOf(to)].filter((end) => end >= 0)
  return rows.slice(Math.min(...ends), Math.max(...ends) + 1)
}
