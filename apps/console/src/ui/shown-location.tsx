import { createContext, type ReactNode, useContext, useMemo } from 'react'
import { Router } from 'wouter'
import { type useBrowserLocation, useHistoryState } from 'wouter/use-browser-location'
import { useLater } from './later.tsx'
import { useHeldLocation, useHeldSearch } from './unsaved.ts'

interface Place {
  path: string
  search: string
  state: unknown
}

/** The state of a navigation that must leave the page before anything else happens. */
export const AT_ONCE = { isAtOnce: true }

const Shown = createContext<Place | undefined>(undefined)

/**
 * Gives the pages in it the location to show. Another page is rendered in the background while the present one stays, so that the
 * browser answers the press that leads to it at once: a table takes longer to render than a person takes to notice.
 */
export function ShownLocation({ base, children }: { base: string; children: ReactNode }) {
  const [path] = useHeldLocation()
  const search = useHeldSearch()
  const state = useHistoryState<Place['state']>()
  const now = useMemo(() => ({ path, search, state }), [path, search, state])
  const rendered = useLater(now)
  const isAtOnce = typeof state === 'object' && state !== null && 'isAtOnce' in state
  const shown = isAtOnce || rendered.path === path ? now : rendered
  return (
    <Shown value={shown}>
      <Router base={base} hook={useShownPath} searchHook={useShownSearch}>
        {shown.path !== path && <div className="leaving" />}
        {children}
      </Router>
    </Shown>
  )
}

function useShown(): Place {
  const shown = useContext(Shown)
  if (shown === undefined) throw new Error('Not inside of ShownLocation')
  return shown
}

function useShownPath(): ReturnType<typeof useBrowserLocation> {
  const [, navigate] = useHeldLocation()
  return [useShown().path, navigate]
}

const useShownSearch = () => useShown().search

/** The state of the browser's history that belongs to the shown page. */
export function useShownState<T>(): T {
  return useShown().state as T
}
