import { Link, Outlet } from '@tanstack/react-router'
import { resources } from '../resources/index.ts'
import { Notices } from './Notices.tsx'
import { OfflineBar } from './OfflineBar.tsx'
import { ThemeChoice } from './ThemeChoice.tsx'

/** What every view stands in: navigation, connection, notices. */
export function Shell() {
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="shell">
        <Link to="/" className="brand" aria-label="Resource Console, overview">
          <span aria-hidden="true" className="mark" />
          <span className="brand-name">Resource Console</span>
        </Link>
        <nav aria-label="Main">
          <Link to="/" activeOptions={{ exact: true }}>
            Overview
          </Link>
          {resources.map(({ noun, title }) => (
            <Link key={noun} to={`/${noun}` as '/'} activeOptions={{ includeSearch: false }}>
              {title}
            </Link>
          ))}
        </nav>
        <ThemeChoice />
      </header>
      <OfflineBar />
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
      <Notices />
    </>
  )
}
