import type { FallbackProps } from 'react-error-boundary'
import { Button } from '../ui/Button.tsx'

/** Replaces a view that fails to render, for example because a deployment removed one of its scripts. */
export function ErrorFallback({ error }: FallbackProps) {
  return (
    <div className="state" role="alert">
      <h1>This page stopped working</h1>
      <p>The service may have been updated since you opened the page. Saved changes are not lost.</p>
      <p className="hint">{String(error)}</p>
      <Button className="button primary" onPress={() => window.location.reload()}>
        Reload the page
      </Button>
    </div>
  )
}
