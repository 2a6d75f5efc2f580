import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { scrollToTop } from './scroll.ts'

/** The pages of the service next to the console. */
export const AREAS = [
  ['/docs', 'Try it'],
  ['/redoc', 'Reference'],
] as const

/** The header that all pages of the service have, with the controls of the page at its end. */
export function Header({ start, children }: { start?: ReactNode; children: ReactNode }) {
  return (
    <header className="row frame">
      {start}
      <a className="row brand" href="/" aria-label="Resource Service">
        <Mark />
        <span>Resource Service</span>
      </a>
      <nav className="areas" aria-label="Areas">
        <Link href="~/console" data-label="Console" aria-current="true" onClick={scrollToTop}>
          Console
        </Link>
        {AREAS.map(([href, title]) => (
          <a key={href} href={href} data-label={title}>
            {title}
          </a>
        ))}
      </nav>
      <span className="gap" />
      {children}
    </header>
  )
}

/** The sign of the service. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 20 20" aria-hidden="true">
      <rect className="plate" width="20" height="20" rx="5" />
      <rect x="5" y="5" width="10" height="2" rx="1" />
      <rect x="5" y="9" width="10" height="2" rx="1" />
      <rect className="live" x="5" y="13" width="6" height="2" rx="1" />
    </svg>
  )
}
