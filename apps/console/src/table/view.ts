import { useRef } from 'react'
import { useLocation, useSearch } from 'wouter'
import { parseInput } from '../resources/field.ts'
import { editVerb, type Noun, type Resource } from '../resources/resource.ts'
import { usePreferences } from '../ui/preferences.ts'
import { scrollToTop } from '../ui/scroll.ts'
import { useShownState } from '../ui/shown-location.tsx'

/** The open dialog: a new record, the record with this id, or an import or export. */
export type Open = (typeof DIALOGS)[number] | number

/** The state in the page's URL. The same link shows the same view. */
export interface View {
  sort?: string | undefined
  limit?: number | undefined
  /** Page number; absent on the first page. */
  page?: number | undefined
  /** Cursor after which the page starts, if it is too far into the list for its number. */
  after?: string | undefined
  open?: Open | undefined
  /** Filters by their names in the contract. */
  [filter: string]: unknown
}

const DIALOGS = ['new', 'import', 'export'] as const
// Parameters that do not select records.
const PLACES = ['limit', 'page', 'after', 'open']
export const PAGE_SIZES = [10, 25, 50, 100]
const DEFAULT_SIZE = 25
// The service skips at most this many records to a page by its number.
const MAX_SKIPPED = 100_000

/** Parses a query string. Values that the contract would reject are ignored. */
export function viewOf(resource: Resource, query: string): View {
  const search = new URLSearchParams(query)
  const view: View = {}
  for (const field of resource.filters) {
    const value = parseInput(field, search.get(field.name) ?? '')
    if (value !== undefined && field.schema.safeParse(value).success) view[field.name] = value
  }
  const sort = search.get('sort') ?? ''
  const limit = Number(search.get('limit'))
  const page = Number(search.get('page'))
  const after = search.get('after') ?? ''
  const open = DIALOGS.find((window) => window === search.get('open')) ?? Number(search.get('open'))
  if (resource.sorts.includes(sort)) view.sort = sort
  const { pageSize } = usePreferences.getState()
  const size = PAGE_SIZES.includes(limit) ? limit : pageSize
  // A link to a page of another size must be the same for everyone.
  if (size !== DEFAULT_SIZE || pageSize !== DEFAULT_SIZE) view.limit = size
  if (Number.isSafeInteger(page) && page > 1) view.page = page
  if (after !== '') view.after = after
  if (typeof open === 'string' || (Number.isInteger(open) && open > 0)) view.open = open
  return view
}

/** The query string of a view. */
export function queryOf(view: View): string {
  const entries = Object.entries(view).filter(([, value]) => value !== undefined)
  return new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString()
}

/** The query string of a view's list, without its page and dialog. */
export function listQueryOf(view: View): string {
  return queryOf({ ...view, page: undefined, after: undefined, open: undefined })
}

/** The filters of a view. */
export function filtersOf(resource: Resource, view: View): Record<string, unknown> {
  const set = resource.filters.filter(({ name }) => view[name] !== undefined)
  return Object.fromEntries(set.map(({ name }) => [name, view[name]]))
}

/** The procedure that a dialog calls. */
export function verbOf({ noun }: Resource, open: Open): string {
  if (typeof open === 'number') return editVerb(noun)
  return { new: 'create', import: 'createMany', export: 'list' }[open]
}

/** A link that opens a dialog of a noun; on its page, the filters stay. */
export function linkTo(noun: Noun, open: Open): string {
  const { pathname, search } = window.location
  const query = new URLSearchParams(pathname.endsWith(`/${noun}`) ? search : '')
  query.set('open', String(open))
  return `/${noun}?${query}`
}

/** The parameters that a view ignores, as `price_lt=abc`. */
function ignoredIn(query: string, view: View): string[] {
  return [...new URLSearchParams(query)]
    .filter(([name]) => view[name] === undefined && !PLACES.includes(name))
    .map(([name, value]) => `${name}=${value}`)
}

/** The list input of a view. */
export function listInputOf(resource: Resource, view: View): Record<string, unknown> {
  return {
    ...filtersOf(resource, view),
    ...(view.sort !== undefined && { sort: view.sort }),
    limit: sizeOf(view),
    ...(view.after === undefined ? { page: view.page ?? 1 } : { after: view.after }),
    count: true,
  }
}

export function sizeOf(view: View): number {
  return view.limit ?? DEFAULT_SIZE
}

/** The number of pages, and of those that can be read by number. */
export function pageCounts(view: View, total: number): { last: number; reachable: number } {
  const last = Math.max(1, Math.ceil(total / sizeOf(view)))
  return { last, reachable: Math.min(last, deepestPage(view)) }
}

/** The last page that can be read by its number. */
export function deepestPage(view: View): number {
  return Math.floor(MAX_SKIPPED / sizeOf(view)) + 1
}

/** State in the browser's history, in addition to the URL. */
interface HistoryState {
  /** Cursors of the previous pages, because a cursor only leads forward. */
  previousCursors?: string[]
  /** Whether the dialog was opened from the page, one step back in the history. */
  isOpened?: boolean
  /** The query string of the list from which the reader came to a record. */
  from?: string
}

/** The view in the page's URL, and functions that navigate to another. */
export function useView(resource: Resource) {
  const [path, navigate] = useLocation()
  const query = useSearch()
  const view = viewOf(resource, query)
  const historyState = useShownState<HistoryState | null>()
  const closedFrom = useRef<HistoryState>(undefined)
  const previousCursors = historyState?.previousCursors ?? []
  const page = view.page ?? 1

  // Reads the current URL, because a filter may change it on blur just before a button is pressed.
  const go = (changes: Partial<View>, state: HistoryState, replace = false) => {
    const query = queryOf({ ...viewOf(resource, window.location.search), ...changes })
    navigate(query === '' ? path : `${path}?${query}`, { state, replace })
  }
  const goToPage = (page: number, after?: string, previousCursors: string[] = []) => {
    go({ page: page > 1 ? page : undefined, after }, { previousCursors })
    scrollToTop()
  }
  return {
    view,
    ignored: ignoredIn(query, view),
    page,
    /** Opens a dialog; twice pressed, it still needs one step back. */
    open: (open: Open) => open !== view.open && go({ open }, { ...historyState, previousCursors, isOpened: true }),
    /** Closes the dialog. The Back button does not reopen it. */
    close: () => {
      if (!historyState?.isOpened) return go({ open: undefined }, { ...historyState, previousCursors }, true)
      // history.back() is asynchronous and must not run twice.
      if (closedFrom.current !== historyState) window.history.back()
      closedFrom.current = historyState
    },
    /** Changes filters, sort or page size, and returns to the first page. */
    change: (changes: Partial<View>, isReplaced = false) =>
      go({ ...changes, page: undefined, after: undefined }, {}, isReplaced),
    goToPage,
    /** @param cursor the cursor of the next page */
    next: (cursor: string) => {
      if (page < deepestPage(view)) goToPage(page + 1)
      else goToPage(page + 1, cursor, [...previousCursors, view.after ?? ''])
    },
    /** Without the cursor of the previous page, as in a shared link, it leads to the last page that has a number. */
    previous: (total: number) => {
      const { reachable } = pageCounts(view, total)
      const cursor = previousCursors.at(-1)
      if (page - 1 <= reachable || !cursor) goToPage(Math.max(1, Math.min(page - 1, reachable)))
      else goToPage(page - 1, cursor, previousCursors.slice(0, -1))
    },
  }
}
