import { type ReactNode, startTransition, useEffect, useState } from 'react'

/**
 * A value after the next paint, and after what renders with it, which takes slices of time in the background. So the browser
 * answers a press before it does what takes longer.
 *
 * @param initial the value until then, if not the present one
 */
export function useLater<T>(value: T, initial = value): T {
  const [later, setLater] = useState(() => initial)
  useEffect(() => {
    if (Object.is(later, value)) return
    let timer: ReturnType<typeof setTimeout>
    // A frame is painted after its callback.
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => startTransition(() => setLater(() => value)))
    })
    return () => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
    }
  }, [later, value])
  return later
}

/** Whether a component has been shown for a time. */
export function useIsAfter(ms: number): boolean {
  const [isAfter, setAfter] = useState(false)
  useEffect(() => {
    const timer = setTimeout(setAfter, ms, true)
    return () => clearTimeout(timer)
  }, [ms])
  return isAfter
}

/** Darkens the page at once, and renders a dialog later. */
export function Later({ children }: { children: ReactNode }) {
  return useLater(true, false) ? children : <Scrim />
}

/** What a dialog shows until it is there. */
export function Scrim() {
  return <div className="scrim" />
}
