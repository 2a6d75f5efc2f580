import { ChevronDown, Keyboard, LockOpen, LogOut, MonitorSmartphone } from 'lucide-react'
import { useId, useRef } from 'react'
import { Link } from 'wouter'
import { logOut, useSession } from '../session/session.ts'
import { Button } from '../ui/Button.tsx'
import { ThemeChoice } from '../ui/ThemeChoice.tsx'

/** Who uses the console, and what only they can change: the theme, the session. It says so while the service has no key. */
export function AccountMenu({ onShortcuts }: { onShortcuts: () => void }) {
  const { session } = useSession()
  const id = useId()
  const menu = useRef<HTMLDivElement>(null)
  const isOpen = session?.name === 'anonymous'
  const choose = (act: () => void) => () => {
    menu.current?.hidePopover()
    act()
  }
  return (
    <>
      <span role="status" className="hidden">
        {isOpen && 'No API key exists: anyone who can reach this port can read, write and delete everything.'}
      </span>
      <Button className="button ghost account" popoverTarget={id}>
        <span className="hidden">Account: </span>
        {session !== undefined && !isOpen && (
          <>
            <span className="avatar" aria-hidden="true">
              {session.label.slice(0, 1).toUpperCase()}
            </span>
            <bdi translate="no">{session.label}</bdi>
          </>
        )}
        {isOpen && (
          <span className="badge warning">
            <LockOpen aria-hidden="true" className="i" />
            <span>
              Open<span className="wide-text"> to anyone</span>
            </span>
          </span>
        )}
        <ChevronDown aria-hidden="true" className="i chevron" />
      </Button>
      <div ref={menu} id={id} popover="auto" className="menu">
        <p className="faint small-text">
          {isOpen && 'No key yet: everybody is an administrator until one exists.'}
          {session !== undefined && !isOpen && (
            <span translate="no">
              {session.label}, {session.role}
            </span>
          )}
        </p>
        <ThemeChoice />
        <hr />
        <button type="button" aria-keyshortcuts="?" onClick={choose(onShortcuts)}>
          <Keyboard aria-hidden="true" className="i" />
          Keyboard shortcuts
        </button>
        {session !== undefined && !isOpen && (
          <Link href="/sessions" onClick={() => menu.current?.hidePopover()}>
            <MonitorSmartphone aria-hidden="true" className="i" />
            Sessions
          </Link>
        )}
        {session !== undefined && !isOpen && (
          <button type="button" onClick={choose(() => void logOut())}>
            <LogOut aria-hidden="true" className="i" />
            Log out
          </button>
        )}
      </div>
    </>
  )
}
