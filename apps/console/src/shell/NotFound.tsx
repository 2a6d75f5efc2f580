import { Link } from 'wouter'
import { useTitle } from '../ui/title.ts'

/** A path of the console that leads nowhere. */
export function NotFound() {
  useTitle('No such page')
  return (
    <div className="state">
      <h1>There is no such page</h1>
      <p>The link may be old or mistyped.</p>
      <Link href="/">Go to the overview</Link>
    </div>
  )
}
