import { useState } from 'react'
import type { Row } from '../resources/resource.ts'

export type Selection = ReturnType<typeof useSelection>

/**
 * The selected rows of the current page.
 *
 * @param page identifies the list and page; another page starts without a selection
 */
export function useSelection(rows: Row[], page: string) {
  const [state, setState] = useState({ page, ids: new Set<number>(), last: 0, isEverything: false })
  const isSamePage = state.page === page
  const ids = isSamePage ? state.ids : new Set<number>()
  const selected = rows.filter(({ id }) => ids.has(id))
  const set = (next: Iterable<number>, last = 0) => setState({ page, ids: new Set(next), last, isEverything: false })
  return {
    rows: selected,
    has: (id: number) => ids.has(id),
    isAll: rows.length > 0 && selected.length === rows.length,
    isSome: selected.length > 0 && selected.length < rows.length,
    /** Whether all records that match the filters are selected, also those on other pages. */
    isEverything: isSamePage && state.isEverything && selected.length > 0,
    selectEverything: () => setState({ ...state, isEverything: true }),
    clear: () => set([]),
    /** Called after an answer, so it has no effect once there is a selection on another page. */
    select: (next: number[]) =>
      setState((now) => (now.page === page ? { page, ids: new Set(next), last: 0, isEverything: false } : now)),
    toggleAll: () => set(selected.length === rows.length ? [] : rows.map(({ id }) => id)),
    /** @param isRange whether to toggle all rows from the last toggled row to this one */
    toggle: (id: number, isRange: boolean) => {
      const next = new Set(ids)
      for (const one of isRange ? between(rows, state.last, id) : [id]) {
        if (ids.has(id)) next.delete(one)
        else next.add(one)
      }
      set(next, id)
    },
  }
}

function between(rows: Row[], from: number, to: number): number[] {
  const ids = rows.map(({ id }) => id)
  const ends = [ids.indexOf(from), ids.indexOf(to)].filter((end) => end >= 0)
  return ids.slice(Math.min(...ends), Math.max(...ends) + 1)
}
