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
  const user = isOpen ? undefined : session
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
        {user !== undefined && (
          <>
            <span className="avatar" aria-hidden="true">
              {user.label.slice(0, 1).toUpperCase()}
            </span>
            <bdi translate="no">{user.label}</bdi>
          </>
        )}
        {isOpen && (
          <span className="badge warning">
            <LockOpen />
            <span>
              Open<span className="wide-text"> to anyone</span>
            </span>
          </span>
        )}
        <ChevronDown className="chevron" />
      </Button>
      <div ref={menu} id={id} popover="auto" className="menu">
        <p className="faint small-text">
          {isOpen && 'No key yet: everybody is an administrator until one exists.'}
          {user !== undefined && <span translate="no">{`${user.label}, ${user.role}`}</span>}
        </p>
        <ThemeChoice />
        <hr />
        <button type="button" aria-keyshortcuts="?" onClick={choose(onShortcuts)}>
          <Keyboard />
          Keyboard shortcuts
        </button>
        {user !== undefined && (
          <>
            <Link href="/sessions" onClick={() => menu.current?.hidePopover()}>
              <MonitorSmartphone />
              Sessions
            </Link>
            <button type="button" onClick={choose(() => void logOut())}>
              <LogOut />
              Log out
            </button>
          </>
        )}
      </div>
    </>
  )
}
