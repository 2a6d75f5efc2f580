import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { ANONYMOUS, type Caller, unauthorized } from './caller.ts'
import type { Keyring } from './keyring.ts'

/** The cookie of the console: it holds the key where no script can read it. */
export const SESSION_COOKIE = 'resource_session'

/**
 * @param headers with the credentials: those of the request when absent
 * @throws Problem 401, at once or as a rejection
 */
export type Authenticate = (req: IncomingMessage, headers?: IncomingHttpHeaders) => Caller | Promise<Caller>

/**
 * Who calls, by an API key or a token in `Authorization: Bearer`, or by the console's cookie. As long as there is no key
 * and no identity provider, a direct request without credentials may do everything.
 *
 * @param proxyOf what shows that a request is not a direct one; undefined for one that is
 * @param verifyToken absent where no identity provider is configured
 */
export function createAuthenticate(
  keyring: Keyring,
  proxyOf: (req: IncomingMessage) => string | undefined,
  verifyToken?: (token: string) => Promise<Caller>,
): Authenticate {
  const admitAnonymous = (hasKeys: boolean, req: IncomingMessage): Caller => {
    if (hasKeys) throw unauthorized('Send Authorization: Bearer with an API key', 'no_credentials')
    const sign = proxyOf(req)
    if (sign !== undefined) throw unauthorized(throughProxy(sign), 'proxy')
    return ANONYMOUS
  }
  // A token has three parts, a key none.
  const callerOf = (credentials: string) =>
    verifyToken !== undefined && credentials.includes('.') ? verifyToken(credentials) : keyring.callerOf(credentials)
  return (req, { authorization, cookie } = req.headers) => {
    const sent = bearer(authorization)
    if (sent !== undefined) return callerOf(sent)
    const credentials = session(cookie)
    if (credentials === undefined) {
      const hasKeys = verifyToken !== undefined || keyring.hasKeys()
      return hasKeys instanceof Promise
        ? hasKeys.then((hasKeys) => admitAnonymous(hasKeys, req))
        : admitAnonymous(hasKeys, req)
    }
    const caller = callerOf(credentials)
    return caller instanceof Promise ? caller.then(atConsole) : atConsole(caller)
  }
}

function throughProxy(sign: string): string {
  return `Only direct requests of the service's own machine need no credentials, and this one came through a proxy (${sign}). Send Authorization: Bearer with an API key; on that machine, resource keys create --name operator --role admin --database "$DATABASE_URL" creates one`
}

/** Whether a request shows credentials, be they good or not. */
export function hasCredentials({ authorization, cookie }: IncomingHttpHeaders): boolean {
  return authorization !== undefined || session(cookie) !== undefined
}

function atConsole(caller: Caller): Caller {
  return { ...caller, detail: `${caller.detail} (console)` }
}

function bearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  const [, credentials] = /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization) ?? []
  if (credentials === undefined) throw unauthorized('Authorization must be Bearer and an API key', 'malformed')
  return credentials
}

function session(cookie: string | undefined): string | undefined {
  const pair = cookie?.split(/; */).find((pair) => pair.startsWith(`${SESSION_COOKIE}=`))
  return pair?.slice(SESSION_COOKIE.length + 1)
}
