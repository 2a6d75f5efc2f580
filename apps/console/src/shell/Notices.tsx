import { useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { Button } from '../ui/Button.tsx'
import { dismiss, useNotices } from '../ui/notices.ts'

/** Notices of success and failure, announced to screen readers. The page and its dialogs end above them. */
export function Notices() {
  const notices = useNotices()
  const element = useRef<HTMLElement>(null)
  useEffect(() => {
    const section = element.current as HTMLElement
    const observer = new ResizeObserver(() =>
      document.documentElement.style.setProperty('--notices', `${section.offsetHeight}px`),
    )
    observer.observe(section)
    return () => observer.disconnect()
  }, [])
  return (
    // React Aria hides everything outside an open dialog from screen readers, except elements with this attribute.
    <section ref={element} className="notices" aria-label="Notices" aria-live="polite" data-react-aria-top-layer="true">
      {notices.map(({ id, kind, text, undo, link }) => (
        <div key={id} className={`notice ${kind}`}>
          <p>{text}</p>
          {undo !== undefined && (
            <Button
              className="small"
              aria-label={`Undo: ${text}`}
              onPress={() => {
                dismiss(id)
                undo()
              }}
            >
              Undo
            </Button>
          )}
          {link !== undefined && (
            <Link href={link.href} className="small" aria-label={`${link.label}: ${text}`} onClick={() => dismiss(id)}>
              {link.label}
            </Link>
          )}
          <Button className="quiet" aria-label={`Dismiss: ${text}`} onPress={() => dismiss(id)}>
            <span aria-hidden="true">×</span>
          </Button>
        </div>
      ))}
    </section>
  )
}
