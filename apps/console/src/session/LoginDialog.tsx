import { ModalDialog } from '../ui/ModalDialog.tsx'
import { LoginForm } from './LoginForm.tsx'
import { dismissLogin } from './session.ts'

/** Asks for a key in a dialog over the page, so that an open form keeps its input. */
export default function LoginDialog() {
  return (
    <ModalDialog title="Log in again" onClose={dismissLogin}>
      <p>
        Your session has ended: it was not used for long, its key is no longer valid, or you logged out elsewhere. What
        you typed is kept.
      </p>
      <LoginForm isOverPage />
    </ModalDialog>
  )
}
