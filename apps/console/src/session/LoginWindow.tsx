import { Window } from '../ui/Window.tsx'
import { LoginForm } from './LoginForm.tsx'
import { putOffLogin } from './session.ts'

/** Asks for a key over the page, which stays as it is: a form that was begun can be sent afterwards. */
export default function LoginWindow() {
  return (
    <Window title="Log in again" onClose={putOffLogin}>
      <p>
        The service no longer takes the key you came with: it was revoked, has expired, or you logged out elsewhere.
      </p>
      <LoginForm />
    </Window>
  )
}
