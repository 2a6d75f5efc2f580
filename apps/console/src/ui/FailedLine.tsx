import type { ReactNode } from 'react'

/** What went wrong, in its place on the page. */
export function FailedLine({ children }: { children: ReactNode }) {
  return (
    <p role="alert" className="failed-line">
      {children}
    </p>
  )
}
