import { contract } from '@resource/contract'
import type { ReactNode } from 'react'
import { ErrorBoundary } from 'react-error-boundary'
import { Link, useLocation } from 'wouter'
import { LiveStatus } from '../live/LiveStatus.tsx'
import { resources } from '../resources/index.ts'
import { Account } from '../session/Account.tsx'
import { useAllows } from '../table/permissions.ts'
import { scrollToTop } from '../ui/scroll.ts'
import { ErrorFallback } from './ErrorFallback.tsx'
import { NoKeyWarning } from './NoKeyWarning.tsx'
import { Notices } from './Notices.tsx'
import { OfflineBar } from './OfflineBar.tsx'
import { ShortcutsButton } from './ShortcutsButton.tsx'
import { ThemeChoice } from './ThemeChoice.tsx'

const PAGES = [{ href: '/', title: 'Overview' }, ...resources.map(({ noun, title }) => ({ href: `/${noun}`, title }))]
const PROPOSALS = { href: '/proposals', title: 'Proposals' }

/** The frame of every view: navigation, warnings, notices. */
export function Shell({ children }: { children: ReactNode }) {
  const [path] = useLocation()
  const hasProposals = useAllows(contract.proposals.procedures.list)
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="shell">
        <Link href="/" className="brand" aria-label="Resource Console, overview">
          <span aria-hidden="true" className="mark" />
          <span className="brand-name">Resource Console</span>
        </Link>
        <nav aria-label="Main">
          {(hasProposals ? [...PAGES, PROPOSALS] : PAGES).map(({ href, title }) => (
            <Link key={href} href={href} aria-current={currentOf(path, href)} onClick={scrollToTop}>
              {title}
            </Link>
          ))}
        </nav>
        <LiveStatus />
        <Account />
        <ThemeChoice />
        <ShortcutsButton />
      </header>
      <OfflineBar />
      <NoKeyWarning />
      <main id="main" tabIndex={-1}>
        <ErrorBoundary key={path} FallbackComponent={ErrorFallback}>
          {children}
        </ErrorBoundary>
      </main>
      <Notices />
    </>
  )
}

// The page of a record belongs to the page of its noun.
function currentOf(path: string, href: string): 'page' | 'true' | undefined {
  if (path === href) return 'page'
  return path.startsWith(`${href}/`) ? 'true' : undefined
}
