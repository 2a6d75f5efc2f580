import type { Visit } from './console.ts'
import { EXTREME_VIEWS } from './extreme-views.ts'
import { VIEWS } from './views.ts'

const ALL_VIEWS = { ...VIEWS, ...EXTREME_VIEWS }

export type ViewName = keyof typeof ALL_VIEWS

// One visit shows a view and those that continue it, because a new page and service take most of the time of a view. What opens
// another page of the same service saves the start of one.
const CONTINUES: Partial<Record<ViewName, ViewName>> = {
  columns: 'users',
  selected: 'users',
  offline: 'users',
  'offline-unread': 'offline',
  'edit-several': 'selected',
  'delete-several': 'selected',
  'undo-change': 'record',
  'delete-one': 'books',
  palette: 'items',
  shortcuts: 'account',
  export: 'new',
  edit: 'edit-missing',
  discard: 'edit',
  'import-refused': 'import-source',
  'import-check': 'import-refused',
  'import-running': 'import',
  'import-pill': 'import-running',
  'import-question': 'import-running',
  'import-stopped': 'import-running',
  'import-unfinished': 'import-stopped',
  'import-over': 'import',
  proposals: 'proposals-none',
  proposal: 'proposals',
  keys: 'keys-none',
  'keys-rotate': 'keys',
  missing: 'sessions-none',
  'extreme items': 'extreme overview',
  'extreme users': 'extreme items',
  'extreme record': 'extreme users',
  'extreme form': 'extreme record',
  'extreme audit': 'extreme deletion',
}

/** The views that lead to a view, which is the last one. */
export function pathTo(name: ViewName): ViewName[] {
  const before = CONTINUES[name]
  return before === undefined ? [name] : [...pathTo(before), name]
}

/** The paths that show each view, and of each path the views that no path before it has shown. */
export function visits(): { path: ViewName[]; shown: ViewName[] }[] {
  const continued = new Set(Object.values(CONTINUES))
  const before = new Set<ViewName>()
  const names = Object.keys(ALL_VIEWS) as ViewName[]
  return names
    .filter((name) => !continued.has(name))
    .map((name) => {
      const path = pathTo(name)
      const shown = path.filter((view) => !before.has(view))
      for (const view of shown) before.add(view)
      return { path, shown }
    })
}

/** Shows a view in the place of the one that it continues, or on a new page. */
export const show = (name: ViewName, visit: Visit) => ALL_VIEWS[name](visit)
