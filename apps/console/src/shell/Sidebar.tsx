import { API_VERSION } from '@resource/contract'
import { BookText, House, Play } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import type { Noun } from '../resources/resource.ts'
import { useAllowing } from '../table/permissions.ts'
import { useCount } from '../table/queries.ts'
import { AREAS } from '../ui/Header.tsx'
import { scrollToTop } from '../ui/scroll.ts'
import { type Destination, NAVIGATION } from './navigation.ts'
import { HEALTH, useHealth, useOpenProposals } from './service.ts'

const AREA_ICONS = { '/docs': Play, '/redoc': BookText }

/** The pages of the console in groups; a drawer where the page is narrow. */
export function Sidebar({ id }: { id: string }) {
  const [path] = useLocation()
  const isAllowed = useAllowing()
  const health = useHealth()
  const drawer = useRef<HTMLElement>(null)
  useEffect(() => {
    // A link closes the drawer.
    if (path !== '' && drawer.current?.matches(':popover-open')) drawer.current.hidePopover()
  }, [path])
  const groups = NAVIGATION.map(({ title, pages }) => ({
    title,
    pages: pages.filter(({ needs }) => needs === undefined || isAllowed(needs)),
  }))
  return (
    <nav ref={drawer} id={id} popover="auto" className="side" aria-label="Console">
      <div className="areas-narrow">
        <a href="/">
          <House />
          <span>Start page</span>
        </a>
        {AREAS.map(([href, title]) => {
          const Icon = AREA_ICONS[href]
          return (
            <a key={href} href={href}>
              <Icon />
              <span>{title}</span>
            </a>
          )
        })}
      </div>
      {groups.map(
        ({ title, pages }) =>
          pages.length > 0 && (
            <div key={title}>
              {title !== '' && <h2>{title}</h2>}
              {pages.map((page) => (
                <Entry key={page.href} page={page} path={path} />
              ))}
            </div>
          ),
      )}
      <footer>
        <span className="status">
          <span className={`dot ${HEALTH[health].dot}`} />
          {HEALTH[health].text}
        </span>
        <span translate="no">{API_VERSION}</span>
      </footer>
    </nav>
  )
}

function Entry({ page: { href, title, icon: Icon, counted }, path }: { page: Destination; path: string }) {
  // The page of a record belongs to the page of its noun.
  const current = path === href ? 'page' : path.startsWith(`${href}/`) ? 'true' : undefined
  return (
    <Link href={href} aria-current={current} onClick={scrollToTop}>
      <Icon />
      <span>{title}</span>{' '}
      {counted === 'proposals' ? <OpenProposals /> : counted !== undefined && <Size noun={counted} />}
    </Link>
  )
}

function Size({ noun }: { noun: Noun }) {
  const { data: size } = useCount({ noun }, {})
  return size !== undefined && <small translate="no">{size.toLocaleString('en')}</small>
}

function OpenProposals() {
  const open = useOpenProposals() ?? 0
  return (
    open > 0 && (
      <small className="count-new">
        <span translate="no">{open.toLocaleString('en')}</span> <span className="hidden">open</span>
      </small>
    )
  )
}
