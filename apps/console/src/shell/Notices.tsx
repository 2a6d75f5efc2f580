import { CircleAlert, Redo2, Undo2, X } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { redoLast, undoLast } from '../table/history.ts'
import { Button } from '../ui/Button.tsx'
import { dismiss, useNotices } from '../ui/notices.ts'
import { useShortcut } from '../ui/shortcuts.ts'

/** Notices of success and failure, announced to screen readers. On phones the page and its dialogs end above them. */
export function Notices() {
  const notices = useNotices()
  useShortcut('Mod+z', undoLast)
  useShortcut('Mod+Shift+z', redoLast)
  useShortcut('Mod+y', redoLast)
  const element = useRef<HTMLElement>(null)
  useEffect(() => {
    const section = element.current as HTMLElement
    const observer = new ResizeObserver(() => {
      const height = Math.ceil(section.getBoundingClientRect().height)
      document.documentElement.style.setProperty('--notices', `${height}px`)
    })
    observer.observe(section)
    return () => observer.disconnect()
  }, [])
  return (
    // React Aria hides everything outside an open dialog from screen readers, except elements with this attribute.
    <section ref={element} className="notices" aria-label="Notices" aria-live="polite" data-react-aria-top-layer="true">
      {notices.map(({ done = '', details = '', ...notice }) => {
        const end = done && ` ${done}`
        const whole = `${notice.text}${end}${details}`
        return (
          <div key={notice.id} className={`notice ${notice.kind}`}>
            {notice.kind === 'failed' && <CircleAlert />}
            <p title={whole}>
              <span className="subject">
                <span>{notice.text}</span>
                {end !== '' && <span>{end}</span>}
              </span>
              {details !== '' && <span>{details}</span>}
            </p>
            {notice.action !== undefined && (
              <Button
                className="button small"
                icon={notice.action.label === 'Redo' ? Redo2 : Undo2}
                aria-label={`${notice.action.label}: ${whole}`}
                onPress={() => {
                  dismiss(notice.id)
                  notice.action?.act()
                }}
              >
                {notice.action.label}
              </Button>
            )}
            {notice.link !== undefined && (
              <Link
                href={notice.link.href}
                className="button small"
                aria-label={`${notice.link.label}: ${whole}`}
                onClick={() => dismiss(notice.id)}
              >
                {notice.link.label}
              </Link>
            )}
            <Button
              className="button small icon"
              icon={X}
              aria-label={`Dismiss: ${whole}`}
              onPress={() => dismiss(notice.id)}
            />
          </div>
        )
      })}
    </section>
  )
}
