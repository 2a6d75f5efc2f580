import { useRef } from 'react'
import { useLocation, useSearch } from 'wouter'
import { useHistoryState } from 'wouter/use-browser-location'
import { fromText } from '../resources/field.ts'
import type { Resource } from '../resources/resource.ts'

/** What may lie over the table: a form for a new record or for the one with this id, or what is done to many. */
export type Open = (typeof WINDOWS)[number] | number

/** What the page's URL says: the same link shows the same view. */
export interface View {
  sort?: string | undefined
  limit?: number
  /** Cursor the page begins after; absent on the first. */
  after?: string | undefined
  open?: Open | undefined
  /** Filters, by the contract's names. */
  [filter: string]: unknown
}

const WINDOWS = ['new', 'import', 'export', 'purge'] as const
export const PAGE_SIZES = [10, 25, 50, 100]
const DEFAULT_SIZE = 25

/** The view a query string stands for; what the contract would refuse is left out. */
function viewOf(resource: Resource, query: string): View {
  const search = new URLSearchParams(query)
  const view: View = {}
  for (const field of resource.filters) {
    const value = fromText(field, search.get(field.name) ?? '')
    if (value !== undefined && field.schema.safeParse(value).success) view[field.name] = value
  }
  const sort = search.get('sort') ?? ''
  const limit = Number(search.get('limit'))
  const after = search.get('after') ?? ''
  const open = WINDOWS.find((window) => window === search.get('open')) ?? Number(search.get('open'))
  if (resource.sorts.includes(sort)) view.sort = sort
  if (PAGE_SIZES.includes(limit) && limit !== DEFAULT_SIZE) view.limit = limit
  if (after !== '') view.after = after
  if (typeof open === 'string' || (Number.isInteger(open) && open > 0)) view.open = open
  return view
}

function queryOf(view: View): string {
  const said = Object.entries(view).filter(([, value]) => value !== undefined)
  return new URLSearchParams(said.map(([name, value]) => [name, String(value)])).toString()
}

/** The filters of a view alone. */
export function filtersOf(resource: Resource, view: View): Record<string, unknown> {
  const set = resource.filters.filter(({ name }) => view[name] !== undefined)
  return Object.fromEntries(set.map(({ name }) => [name, view[name]]))
}

/** What takes every filter away. */
export function withoutFilters(resource: Resource): Record<string, undefined> {
  return Object.fromEntries(resource.filters.map(({ name }) => [name, undefined]))
}

/** What the list of a view takes. */
export function listInputOf(resource: Resource, view: View): Record<string, unknown> {
  return {
    ...filtersOf(resource, view),
    ...(view.sort !== undefined && { sort: view.sort }),
    limit: sizeOf(view),
    after: view.after ?? '',
    count: true,
  }
}

export function sizeOf(view: View): number {
  return view.limit ?? DEFAULT_SIZE
}

/** What the browser's history keeps beside the URL. */
interface Kept {
  /** Cursors of the pages before this one; a cursor itself leads forward only. */
  trail?: string[]
  /** Whether the window was opened from the table one step back in the history. */
  isOpened?: boolean
}

/** The view in the page's URL, and how to go to another. */
export function useView(resource: Resource) {
  const [path, navigate] = useLocation()
  const view = viewOf(resource, useSearch())
  const kept = useHistoryState<Kept | null>()
  const left = useRef<Kept>(undefined)
  const trail = kept?.trail ?? []

  // Made from the URL as it is then, since a field may change it on being left for a button.
  const go = (changes: Partial<View>, state: Kept, replace = false) => {
    const query = queryOf({ ...viewOf(resource, window.location.search), ...changes })
    navigate(query === '' ? path : `${path}?${query}`, { state, replace })
  }
  const turn = (after: string | undefined, trail: string[]) => {
    go({ after }, { trail })
    window.scrollTo(0, 0)
  }
  return {
    view,
    hasPrevious: view.after !== undefined && trail.length > 0,
    open: (open: Open) => go({ open }, { trail, isOpened: true }),
    /** Closes what lies over the table; Back does not open it again. */
    close: () => {
      if (!kept?.isOpened) return go({ open: undefined }, { trail }, true)
      // The step back comes later, and must not be taken twice.
      if (left.current !== kept) window.history.back()
      left.current = kept
    },
    /** Other filters, sort or size: from the first page again. */
    change: (changes: Partial<View>) => go({ ...changes, after: undefined }, {}),
    first: () => turn(undefined, []),
    next: (cursor: string) => turn(cursor, [...trail, view.after ?? '']),
    previous: () => turn(trail.at(-1) || undefined, trail.slice(0, -1)),
  }
}
