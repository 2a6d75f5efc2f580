import { useId, useState } from 'react'
import { Button } from '../ui/Button.tsx'
import { logIn } from './session.ts'

/** Takes an API key, which goes to the service and stays nowhere in the page. */
export function LoginForm() {
  const fault = useId()
  const [failure, setFailure] = useState('')
  const [isSending, setSending] = useState(false)
  const submit = async (form: HTMLFormElement) => {
    setSending(true)
    const key = String(new FormData(form).get('key') ?? '').trim()
    const words = await logIn(key)
    setSending(false)
    setFailure(words ?? '')
    if (words !== undefined) form.querySelector('input')?.focus()
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
          // biome-ignore lint/a11y/noAutofocus: there is nothing else to do here
          autoFocus
          aria-invalid={failure !== ''}
          aria-describedby={fault}
        />
      </label>
      <p id={fault} role="alert" className="fault">
        {failure}
      </p>
      <Button className="button primary" type="submit">
        {isSending ? 'Logging in…' : 'Log in'}
      </Button>
    </form>
  )
}
