import { ModalDialog } from '../ui/ModalDialog.tsx'
import { LoginForm } from './LoginForm.tsx'
import { dismissLogin } from './session.ts'

/** Asks for a key in a dialog over the page, so that an open form keeps its input. */
export default function LoginDialog() {
  return (
    <ModalDialog title="Log in again" onClose={dismissLogin}>
      <p>
        Your key is no longer valid: it was revoked, it expired, or you logged out in another tab. Enter a key to
        continue.
      </p>
      <LoginForm />
    </ModalDialog>
  )
}
