import { Button } from '../ui/Button.tsx'
import { dismiss, useNotices } from '../ui/notices.ts'

/** Notices of success and failure, announced to screen readers. */
export function Notices() {
  const notices = useNotices()
  return (
    // React Aria hides everything outside an open dialog from screen readers, except elements with this attribute.
    <section className="notices" aria-label="Notices" aria-live="polite" data-react-aria-top-layer="true">
      {notices.map(({ id, kind, text }) => (
        <div key={id} className={`notice ${kind}`}>
          <p>{text}</p>
          <Button className="quiet" aria-label={`Dismiss: ${text}`} onPress={() => dismiss(id)}>
            <span aria-hidden="true">×</span>
          </Button>
        </div>
      ))}
    </section>
  )
}
