import { useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { redoLast, undoLast } from '../table/history.ts'
import { Button } from '../ui/Button.tsx'
import { dismiss, useNotices } from '../ui/notices.ts'
import { useShortcut } from '../ui/shortcuts.ts'

/** Notices of success and failure, announced to screen readers. The page and its dialogs end above them. */
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
      {notices.map((notice) => (
        <div key={notice.id} className={`notice ${notice.kind}`}>
          <p>{notice.text}</p>
          {notice.progress !== undefined && <progress aria-label={notice.text} value={notice.progress} />}
          {notice.action !== undefined && (
            <Button
              className="small"
              aria-label={`${notice.action.label}: ${notice.text}`}
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
              className="small"
              aria-label={`${notice.link.label}: ${notice.text}`}
              onClick={() => dismiss(notice.id)}
            >
              {notice.link.label}
            </Link>
          )}
          <Button className="quiet" aria-label={`Dismiss: ${notice.text}`} onPress={() => dismiss(notice.id)}>
            <span aria-hidden="true">×</span>
          </Button>
        </div>
      ))}
    </section>
  )
}
