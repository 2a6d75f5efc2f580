import type { Role } from '@resource/contract'
import { create } from 'zustand'
import { queryClient } from '../query-client.ts'

/** Who is logged in. */
interface Session {
  name: string
  role: Role
}

interface State {
  /** As the service told last; absent until it has. */
  session?: Session
  /** How a key is asked for, where one is: instead of the page, or over it so that what was begun there stays. */
  asking?: 'page' | 'window'
}

const PATH = '/console/session'

/** Who is logged in, and whether a key is asked for. */
export const useSession = create<State>(() => ({}))

/** Asks the service who is logged in. */
export async function readSession(): Promise<void> {
  // Without a network there is nothing to be told: whatever is read next will say so.
  const answer = await fetch(PATH).catch(() => undefined)
  if (answer?.ok) useSession.setState({ session: await answer.json() }, true)
  if (answer?.status === 401) askForKey()
}

/** Has a key asked for, as the service does not take what it was sent. */
export function askForKey(): void {
  const { asking, session } = useSession.getState()
  if (asking === undefined) useSession.setState({ asking: session === undefined ? 'page' : 'window' })
}

/**
 * Has the browser keep the key where no script can read it.
 *
 * @returns why not, as a sentence; nothing when it is done
 */
export async function logIn(key: string): Promise<string | undefined> {
  if (!/^[\x21-\x7e]+$/.test(key)) return 'A key has no spaces, and letters of the English alphabet alone.'
  try {
    const answer = await fetch(PATH, { method: 'POST', headers: { Authorization: `Bearer ${key}` } })
    const body = await answer.json()
    if (!answer.ok) return `${body.error.message}.`
    useSession.setState({ session: body }, true)
  } catch {
    return 'The service cannot be reached. Is it running?'
  }
  await queryClient.invalidateQueries()
}

/** Forgets the key, and all that was read with it. */
export async function logOut(): Promise<void> {
  await fetch(PATH, { method: 'DELETE' }).catch(() => undefined)
  queryClient.clear()
  useSession.setState({}, true)
  await readSession()
}

/** Goes on without a key until the service refuses again. */
export function putOffLogin(): void {
  const { asking: _, ...rest } = useSession.getState()
  useSession.setState(rest, true)
}
