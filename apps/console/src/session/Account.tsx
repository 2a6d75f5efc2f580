import { Button } from '../ui/Button.tsx'
import { logOut, useSession } from './session.ts'

/** The name and role of the user, and a button to log out. Shows nothing if the service requires no key. */
export function Account() {
  const { session } = useSession()
  if (session === undefined || session.name === 'anonymous') return null
  return (
    <div className="account">
      <span className="hint">
        {session.name}, {session.role}
      </span>
      <Button className="small" onPress={() => void logOut()}>
        Log out
      </Button>
    </div>
  )
}
