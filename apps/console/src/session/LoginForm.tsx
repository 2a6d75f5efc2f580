import { CircleAlert } from 'lucide-react'
import { useId, useState } from 'react'
import { Button } from '../ui/Button.tsx'
import { logIn } from './session.ts'

/** Sends an API key to the service. The page does not store the key. */
export function LoginForm() {
  const errorId = useId()
  const [failure, setFailure] = useState('')
  const [isSending, setSending] = useState(false)
  const submit = async (form: HTMLFormElement) => {
    setSending(true)
    const key = String(new FormData(form).get('key') ?? '').trim()
    const message = await logIn(key)
    setSending(false)
    setFailure(message ?? '')
    if (message !== undefined) form.querySelector('input')?.focus()
  }
  return (
    <form
      className="login"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isSending) void submit(event.currentTarget)
      }}
    >
      <label className="field">
        <span className="label">API key</span>
        <input
          name="key"
          type="password"
          autoComplete="current-password"
          required
          // biome-ignore lint/a11y/noAutofocus: the key is the only input
          autoFocus
          aria-invalid={failure !== ''}
          aria-describedby={errorId}
        />
      </label>
      <p id={errorId} role="alert" className="field-error">
        {failure !== '' && <CircleAlert aria-hidden="true" className="i" />}
        {failure}
      </p>
      <Button className="button primary large" type="submit">
        {isSending ? 'Logging in…' : 'Log in'}
      </Button>
    </form>
  )
}
