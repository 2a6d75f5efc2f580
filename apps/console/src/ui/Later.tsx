import { type ReactNode, useDeferredValue } from 'react'

/** Renders its content after the next paint and in slices, so that a press which opens a dialog shows at once. */
export function Later({ children }: { children: ReactNode }) {
  return useDeferredValue(true, false) && children
}
