import { useEffect } from 'react'

/** Sets the document title. */
export function useTitle(view: string): void {
  useEffect(() => {
    document.title = `${view} · Resource Console`
  }, [view])
}
