import { useEffect, useRef } from 'react'

/** Whether the component is still on the page, for what comes back after it has been left. */
export function useIsMounted() {
  const isMounted = useRef(false)
  useEffect(() => {
    isMounted.current = true
    return () => {
      isMounted.current = false
    }
  }, [])
  return isMounted
}
