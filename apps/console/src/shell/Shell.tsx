import { Menu, Search } from 'lucide-react'
import { lazy, type ReactNode, useId, useState } from 'react'
import { LiveStatus } from '../live/LiveStatus.tsx'
import { Button } from '../ui/Button.tsx'
import { Header } from '../ui/Header.tsx'
import { LazyDialog } from '../ui/LazyDialog.tsx'
import { useShortcut } from '../ui/shortcuts.ts'
import { AccountMenu } from './AccountMenu.tsx'
import { Notices } from './Notices.tsx'
import { OfflineBar } from './OfflineBar.tsx'
import { Pills } from './Pills.tsx'
import { Sidebar } from './Sidebar.tsx'

const Palette = lazy(() => import('./palette/Palette.tsx'))
const Shortcuts = lazy(() => import('./Shortcuts.tsx'))

// The other pages of the service lead here to search.
const SEARCH_AT_ONCE = window.location.hash === '#find'

/** The frame of every view: header, sidebar, warnings, notices. */
export function Shell({ children }: { children: ReactNode }) {
  const drawer = useId()
  const [open, setOpen] = useState<'palette' | 'shortcuts' | undefined>(SEARCH_AT_ONCE ? 'palette' : undefined)
  const close = () => setOpen(undefined)
  useShortcut('?', () => setOpen('shortcuts'))
  useShortcut('Mod+k', () => setOpen('palette'), { isGlobal: true })
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Header
        start={
          <Button
            className="button ghost icon drawer-button"
            icon={Menu}
            popoverTarget={drawer}
            aria-label="Navigation"
          />
        }
      >
        <LiveStatus />
        <button
          type="button"
          className="row find"
          aria-keyshortcuts="Control+K Meta+K"
          onClick={() => setOpen('palette')}
        >
          <Search />
          <span>Search or jump to…</span>
          <kbd>Ctrl K</kbd>
        </button>
        <AccountMenu onShortcuts={() => setOpen('shortcuts')} />
      </Header>
      <div className="shell">
        <Sidebar id={drawer} />
        <main id="main" tabIndex={-1}>
          <OfflineBar />
          {children}
        </main>
      </div>
      <Pills />
      <Notices />
      {open !== undefined && (
        <LazyDialog>
          {open === 'palette' ? (
            <Palette onClose={close} onShortcuts={() => setOpen('shortcuts')} />
          ) : (
            <Shortcuts onClose={close} />
          )}
        </LazyDialog>
      )}
    </>
  )
}
