import { Link } from 'wouter'
import { useTitle } from '../ui/title.ts'

/** The page for an unknown path. */
export function NotFound() {
  useTitle('Page not found')
  return (
    <div className="state">
      <h1>Page not found</h1>
      <p>The link may be old or mistyped.</p>
      <Link href="/">Go to the overview</Link>
    </div>
  )
}
