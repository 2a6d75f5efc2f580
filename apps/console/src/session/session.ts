import type { Role } from '@resource/contract'
import { create } from 'zustand'
import { queryClient } from '../query-client.ts'
import { sentence } from '../ui/format.ts'
import { forgetUser } from '../ui/log-out.ts'
import { notify } from '../ui/notices.ts'
import { hasUnsavedInput } from '../ui/unsaved.ts'

/** The logged-in user. */
interface Session {
  /** As in the audit log: `key 3`. */
  name: string
  /** The name of the key, or the subject of the login. */
  label: string
  role: Role
}

interface State {
  /** From the last response of the service; absent before the first. */
  session?: Session
  /** How the console asks for a key, if it does: instead of the page, or in a dialog that keeps the page's input. */
  loginPrompt?: 'page' | 'dialog'
}

const RETRY_MS = 5_000
const PATH = '/console/session'

/** The session, and whether the console asks for a key. */
export const useSession = create<State>(() => ({}))

/** Reads the session from the service. */
export async function readSession(): Promise<void> {
  const response = await fetch(PATH).catch(() => undefined)
  if (response === undefined || response.status >= 500) setTimeout(readSession, RETRY_MS)
  if (response?.ok) await enter(await response.json())
  if (response?.status === 401) requireLogin()
}

/** Shows the pages of a user. */
async function enter(session: Session): Promise<void> {
  const { loginPrompt } = useSession.getState()
  useSession.setState({ session }, true)
  if (loginPrompt !== undefined) await queryClient.invalidateQueries()
}

/** Asks for a key, because the service rejected the current credentials. */
export function requireLogin(): void {
  const { loginPrompt, session } = useSession.getState()
  if (loginPrompt !== undefined) return
  useSession.setState({ loginPrompt: session === undefined && !hasUnsavedInput() ? 'page' : 'dialog' })
}

/**
 * Logs in with a key. The service starts a session, whose cookie scripts cannot read.
 *
 * @returns an error message, or undefined on success
 */
export async function logIn(key: string): Promise<string | undefined> {
  if (key === '') return 'Enter an API key.'
  if (!/^[\x21-\x7e]+$/.test(key)) return 'A key has no spaces and only plain letters, digits and symbols.'
  try {
    const response = await fetch(PATH, { method: 'POST', headers: { Authorization: `Bearer ${key}` } })
    const body = await response.json()
    const wayOn = response.status === 401 ? ' Copy all of it, or ask an administrator for another.' : ''
    if (!response.ok) return sentence(body.error.message) + wayOn
    useSession.setState({ session: body }, true)
  } catch {
    return 'The service cannot be reached. Is it running?'
  }
  await queryClient.invalidateQueries()
}

/** Logs out and clears all cached data. Only the service can remove the cookie. */
export async function logOut(): Promise<void> {
  const response = await fetch(PATH, { method: 'DELETE' }).catch(() => undefined)
  if (!response?.ok) return notify('failed', 'Logging out failed, so you are still logged in. Try again in a moment.')
  queryClient.clear()
  forgetUser()
  useSession.setState({}, true)
  await readSession()
}

/** Closes the login dialog until the service rejects the next request. */
export function dismissLogin(): void {
  const { loginPrompt: _, ...rest } = useSession.getState()
  useSession.setState(rest, true)
}
