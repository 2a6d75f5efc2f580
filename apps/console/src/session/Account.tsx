import { Button } from '../ui/Button.tsx'
import { logOut, useSession } from './session.ts'

/** Who is logged in, and the way out; nothing where the service asks for no key. */
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
