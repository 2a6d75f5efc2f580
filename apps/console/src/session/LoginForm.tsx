import { LogIn } from 'lucide-react'
import { useEffect, useId, useState } from 'react'
import { Button } from '../ui/Button.tsx'
import { logIn, readSession } from './session.ts'
import { forgetSignInFailure, signInFailure, signInUrl, useLoginOptions } from './sign-in.ts'

/** @param isOverPage whether a page with input is behind the form: signing in then opens another tab */
export function LoginForm({ isOverPage = false }: { isOverPage?: boolean }) {
  const errorId = useId()
  const options = useLoginOptions()
  const [failure, setFailure] = useState(signInFailure)
  const [isSending, setSending] = useState(false)
  useEffect(() => {
    forgetSignInFailure()
    // Somebody may have logged in elsewhere.
    const look = () => void readSession()
    window.addEventListener('focus', look)
    return () => window.removeEventListener('focus', look)
  }, [])
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
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (!isSending) void submit(event.currentTarget)
      }}
    >
      {options?.provider != null && (
        <>
          <a className="button large" href={signInUrl()} {...(isOverPage && { target: '_blank', rel: 'noopener' })}>
            <LogIn />
            <span>
              Continue with <bdi translate="no">{options.provider}</bdi>
            </span>
          </a>
          <p className="row or">or with a key</p>
        </>
      )}
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
        {failure}
      </p>
      <Button className="button primary large" type="submit">
        {isSending ? 'Logging in…' : 'Log in'}
      </Button>
    </form>
  )
}
