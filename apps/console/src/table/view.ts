import { useLocation, useNavigate } from '@tanstack/react-router'
import type { Resource } from '../resources/resource.ts'

/** What the page's URL says: the same link shows the same view. */
export interface View {
  sort?: string
  limit?: number
  /** Cursor the page begins after; absent on the first. */
  after?: string | undefined
  /** What lies over the table: the form of a new record or of the one with this id, or the import. */
  open?: 'new' | 'import' | number | undefined
  /** Filters, by the contract's names. */
  [filter: string]: unknown
}

export const PAGE_SIZES = [10, 25, 50, 100]
const DEFAULT_SIZE = 25

/** The view a query string stands for; what the contract would refuse is left out. */
export function searchOf(resource: Resource, search: Record<string, unknown>): View {
  const view: View = {}
  for (const { name, schema } of resource.filters) {
    const parsed = schema.safeParse(search[name])
    if (parsed.success && parsed.data !== undefined) view[name] = parsed.data
  }
  const { sort, limit, after, open } = search
  if (resource.sorts.includes(String(sort))) view.sort = String(sort)
  if (PAGE_SIZES.includes(Number(limit)) && Number(limit) !== DEFAULT_SIZE) view.limit = Number(limit)
  if (typeof after === 'string' && after !== '') view.after = after
  if (open === 'new' || open === 'import' || (Number.isInteger(open) && Number(open) > 0)) {
    view.open = open as View['open']
  }
  return view
}

/** The filters of a view alone. */
export function filtersOf(resource: Resource, view: View): Record<string, unknown> {
  const set = resource.filters.filter(({ name }) => view[name] !== undefined)
  return Object.fromEntries(set.map(({ name }) => [name, view[name]]))
}

/** What the list of a view takes. */
export function listInputOf(resource: Resource, view: View): Record<string, unknown> {
  return {
    ...filtersOf(resource, view),
    ...(view.sort !== undefined && { sort: view.sort }),
    limit: view.limit ?? DEFAULT_SIZE,
    after: view.after ?? '',
    count: true,
  }
}

export function sizeOf(view: View): number {
  return view.limit ?? DEFAULT_SIZE
}

interface Trail {
  /** Cursors of the pages before this one; a cursor itself leads forward only. */
  trail?: string[]
}

/** The view in the page's URL, and how to go to another. */
export function useView(resource: Resource) {
  const { search, state } = useLocation()
  const navigate = useNavigate()
  const view = searchOf(resource, search as Record<string, unknown>)
  const { trail = [] } = state as Trail

  const go = (next: View, cursors: string[]) => {
    const defined = Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined))
    void navigate({ to: '.', search: defined, state: { trail: cursors } as object, resetScroll: false } as never)
  }
  return {
    view,
    hasPrevious: view.after !== undefined && trail.length > 0,
    /** Opens or closes what lies over the table. */
    open: (open: View['open']) => go({ ...view, open }, trail),
    /** Other filters, sort or size: from the first page again. */
    change: (changes: Record<string, unknown>) => go({ ...view, ...changes, after: undefined }, []),
    first: () => go({ ...view, after: undefined }, []),
    next: (cursor: string) => go({ ...view, after: cursor }, [...trail, view.after ?? '']),
    previous: () => go({ ...view, after: trail.at(-1) || undefined }, trail.slice(0, -1)),
  }
}
