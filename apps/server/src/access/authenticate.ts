import type { IncomingHttpHeaders } from 'node:http'
import { type Caller, unauthorized } from './caller.ts'
import type { Keyring } from './keyring.ts'

/** The cookie of the console: it holds the key where no script can read it. */
export const SESSION_COOKIE = 'resource_session'

/** Whoever comes without credentials where none are needed. */
export const ANONYMOUS: Caller = { name: 'anonymous', role: 'admin' }

/** @throws Problem 401, at once or as a rejection */
export type Authenticate = (headers: IncomingHttpHeaders) => Caller | Promise<Caller>

/**
 * Who calls, by an API key or a token in `Authorization: Bearer`, or by the console's cookie. As long as there is no key
 * and no identity provider, whoever comes without credentials may do everything.
 *
 * @param verifyToken absent where no identity provider is configured
 */
export function createAuthenticate(keyring: Keyring, verifyToken?: (token: string) => Promise<Caller>): Authenticate {
  const admitAnonymous = (hasKeys: boolean): Caller => {
    if (hasKeys) throw unauthorized('Send Authorization: Bearer with an API key')
    return ANONYMOUS
  }
  // A token has three parts, a key none.
  const callerOf = (credentials: string) =>
    verifyToken !== undefined && credentials.includes('.') ? verifyToken(credentials) : keyring.callerOf(credentials)
  return ({ authorization, cookie }) => {
    const sent = bearer(authorization)
    if (sent !== undefined) return callerOf(sent)
    const credentials = session(cookie)
    if (credentials === undefined) {
      const hasKeys = verifyToken !== undefined || keyring.hasKeys()
      return hasKeys instanceof Promise ? hasKeys.then(admitAnonymous) : admitAnonymous(hasKeys)
    }
    const caller = callerOf(credentials)
    return caller instanceof Promise ? caller.then(atConsole) : atConsole(caller)
  }
}

function atConsole(caller: Caller): Caller {
  return { ...caller, detail: `${caller.detail} (console)` }
}

function bearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  const [, credentials] = /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization) ?? []
  if (credentials === undefined) throw unauthorized('Authorization must be Bearer and an API key', 'invalid_token')
  return credentials
}

function session(cookie: string | undefined): string | undefined {
  const pair = cookie?.split(/; */).find((pair) => pair.startsWith(`${SESSION_COOKIE}=`))
  return pair?.slice(SESSION_COOKIE.length + 1)
}
