import { useTitle } from '../ui/title.ts'
import { LoginForm } from './LoginForm.tsx'

/** Stands in the place of every page while nobody is logged in; afterwards the page of the URL is there. */
export function LoginPage() {
  useTitle('Log in')
  return (
    <main className="state">
      <h1>Resource Console</h1>
      <p>
        Log in with an API key. Whoever runs the service makes one with <code>resource keys create</code>.
      </p>
      <LoginForm />
      <p className="hint">It is kept in a cookie that no script can read, until you log out or close the browser.</p>
    </main>
  )
}
