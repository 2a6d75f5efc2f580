import { useTitle } from '../ui/title.ts'
import { LoginForm } from './LoginForm.tsx'

/** Replaces every page until the user logs in; then the page of the URL shows. */
export function LoginPage() {
  useTitle('Log in')
  return (
    <main className="state">
      <h1>Resource Console</h1>
      <p>
        Log in with an API key. To get one, ask your operator to run{' '}
        <code translate="no">npm run -s resource -- keys create</code>.
      </p>
      <LoginForm />
      <p className="hint">The key stays in a cookie that no script can read, until you log out or close the browser.</p>
    </main>
  )
}
