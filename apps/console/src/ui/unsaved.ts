import { useEffect } from 'react'
import { useBrowserLocation, useSearch } from 'wouter/use-browser-location'
import { create } from 'zustand'

interface State {
  /** Whether a form has unsaved input, also while it saves. */
  hasInput?: boolean
  /** The location of the form with unsaved input, which the console shows until the user decides. */
  held?: { path: string; search: string; state: unknown }
  /** Whether the user wants to close the form. */
  isClosing?: boolean
}

const useUnsaved = create<State>(() => ({}))

/** The location to show: that of the form with unsaved input, although the Back button has changed the URL. */
export function useHeldLocation() {
  const [path, navigate] = useBrowserLocation()
  // Every link reads it, so only another path renders them.
  const held = useUnsaved(({ held }) => held?.path)
  return [held ?? path, navigate] as ReturnType<typeof useBrowserLocation>
}

/** The query string that belongs to `useHeldLocation`. */
export function useHeldSearch(): string {
  const search = useSearch()
  const held = useUnsaved(({ held }) => held?.search)
  return held ?? search
}

export function hasUnsavedInput(): boolean {
  return useUnsaved.getState().hasInput === true
}

/** Closes a dialog, after a question if its form has unsaved input. */
export function closeUnlessUnsaved(close: () => void): void {
  if (useUnsaved.getState().held !== undefined) useUnsaved.setState({ isClosing: true })
  else close()
}

/** Lets the form close without a question. */
export function release(): void {
  useUnsaved.setState(({ hasInput = false }) => ({ hasInput }), true)
}

/**
 * Protects the input of a form: the Back button and closing the dialog ask first, and so does the browser before it
 * closes the page.
 *
 * @param isSaving while it saves, the form may be closed
 * @returns whether to ask, and the two answers
 */
export function useUnsavedInput(isChanged: boolean, isSaving: boolean) {
  const { held, isClosing } = useUnsaved()
  const [path] = useBrowserLocation()
  const search = useSearch()
  const hasLeft = held !== undefined && (held.path !== path || held.search !== search)

  useEffect(() => {
    if (!isChanged) return
    useUnsaved.setState({ hasInput: true })
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => {
      window.removeEventListener('beforeunload', ask)
      useUnsaved.setState({ hasInput: false })
    }
  }, [isChanged])

  useEffect(() => {
    if (!isChanged || isSaving) return
    const { pathname, search } = window.location
    useUnsaved.setState({ held: { path: pathname, search, state: window.history.state } })
    return release
  }, [isChanged, isSaving])

  return {
    isAsked: hasLeft || isClosing === true,
    keep: () => {
      useUnsaved.setState({ isClosing: false })
      if (hasLeft) window.history.pushState(held.state, '', `${held.path}${held.search}`)
    },
    /** @param close closes the form, unless the URL has already left it */
    discard: (close: () => void) => {
      release()
      if (!hasLeft) close()
    },
  }
}
