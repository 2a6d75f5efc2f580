import { useEffect } from 'react'

/** Names the browser's window after the view. */
export function useTitle(view: string): void {
  useEffect(() => {
    document.title = `${view} · Resource Console`
  }, [view])
}
