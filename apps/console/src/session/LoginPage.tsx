import { Contrast } from 'lucide-react'
import { useId } from 'react'
import { Button } from '../ui/Button.tsx'
import { Header, Mark } from '../ui/Header.tsx'
import { ThemeChoice } from '../ui/ThemeChoice.tsx'
import { useTitle } from '../ui/title.ts'
import { LoginForm } from './LoginForm.tsx'
import { idleTime, useLoginOptions } from './sign-in.ts'

/** Replaces every page until the user logs in; then the page of the URL shows. */
export default function LoginPage() {
  useTitle('Log in')
  const id = useId()
  const options = useLoginOptions()
  return (
    <>
      <Header>
        <Button className="button ghost icon" icon={Contrast} popoverTarget={id} aria-label="Theme" />
        <div id={id} popover="auto" className="menu">
          <ThemeChoice />
        </div>
      </Header>
      <main className="center" id="main" tabIndex={-1}>
        <div className="login-page">
          <div>
            <Mark />
            <h1>Log in</h1>
            <p className="soft">
              to the console of <b translate="no">{window.location.host}</b>
            </p>
          </div>
          <LoginForm />
          <p className="faint small-text">
            No key yet? An administrator creates one under Keys, or with{' '}
            <code translate="no">npm run -s resource -- keys create</code>.
            {options !== undefined && ` Your session ends after ${idleTime(options.idle_minutes)} without use.`}
          </p>
        </div>
      </main>
    </>
  )
}
