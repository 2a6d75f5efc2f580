import { type ReactNode, Suspense } from 'react'
import { ErrorBoundary } from 'react-error-boundary'
import { Later, Scrim } from './later.tsx'
import { notify } from './notices.ts'

const FAILURE = 'A dialog could not be loaded. Copy your unsaved input, then reload the page.'

/** Shows a dialog that is loaded lazily. If it cannot be loaded, the page keeps its input and shows a notice. */
export function LazyDialog({ children }: { children: ReactNode }) {
  return (
    <ErrorBoundary fallback={null} onError={() => notify('failed', FAILURE)}>
      <Suspense fallback={<Scrim />}>
        <Later>{children}</Later>
      </Suspense>
    </ErrorBoundary>
  )
}
