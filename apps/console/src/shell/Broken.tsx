import type { FallbackProps } from 'react-error-boundary'
import { Button } from '../ui/Button.tsx'

/** Stands in for a view that cannot be drawn, as when the service was updated and a part of this page is gone. */
export function Broken({ error }: FallbackProps) {
  return (
    <div className="state failure" role="alert">
      <h1>This page cannot go on</h1>
      <p>The service may have been updated since it was opened. Nothing that was saved is lost.</p>
      <p className="hint">{String(error)}</p>
      <Button className="button primary" onPress={() => window.location.reload()}>
        Load it anew
      </Button>
    </div>
  )
}
