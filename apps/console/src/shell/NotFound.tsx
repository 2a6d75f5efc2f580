import { Link } from '@tanstack/react-router'

/** A path of the console that leads nowhere. */
export function NotFound() {
  return (
    <div className="state">
      <h1>There is no such page</h1>
      <p>The link may be old or mistyped.</p>
      <Link to="/">Go to the overview</Link>
    </div>
  )
}
