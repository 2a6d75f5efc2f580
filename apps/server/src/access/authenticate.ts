import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { ANONYMOUS, type Caller, unauthorized } from './caller.ts'
import type { Keys } from './keyring.ts'

/** The console's cookie. It holds the API key and is HttpOnly. */
export const SESSION_COOKIE = 'resource_session'

/**
 * @param headers the headers with the credentials; by default those of the request
 * @throws ApiError 401, synchronously or as a rejection
 */
export type Authenticate = (req: IncomingMessage, headers?: IncomingHttpHeaders) => Caller | Promise<Caller>

/**
 * Creates a function that identifies the caller by an API key or a token in `Authorization: Bearer`, or by the console's
 * cookie. Without any key and identity provider, a direct request without credentials has full access.
 *
 * @param proxyOf the sign that a request came through a proxy; undefined for a direct request
 * @param verifyToken undefined without an identity provider
 */
export function createAuthenticate(
  keyring: Keys,
  proxyOf: (req: IncomingMessage) => string | undefined,
  verifyToken?: (token: string) => Promise<Caller>,
): Authenticate {
  const admitAnonymous = (hasKeys: boolean, req: IncomingMessage): Caller => {
    if (hasKeys) throw unauthorized('Send Authorization: Bearer with an API key', 'no_credentials')
    const sign = proxyOf(req)
    if (sign !== undefined) throw unauthorized(throughProxy(sign), 'proxy')
    return ANONYMOUS
  }
  // A JWT contains dots, an API key does not.
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
    return caller instanceof Promise ? caller.then(viaConsole) : viaConsole(caller)
  }
}

function throughProxy(sign: string): string {
  return `Only direct requests from the service's own machine need no credentials, but this request came through a proxy (${sign}). Send Authorization: Bearer with an API key. To create one, run on that machine: resource keys create --name operator --role admin --database "$DATABASE_URL"`
}

/** The credentials of a request, valid or not, as sent. */
export function credentials({ authorization, cookie }: IncomingHttpHeaders): string | undefined {
  return authorization ?? session(cookie)
}

function viaConsole(caller: Caller): Caller {
  return { ...caller, detail: `${caller.detail} (console)` }
}

function bearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  const [, credentials] = /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization) ?? []
  if (credentials === undefined) throw unauthorized('Authorization must be Bearer followed by an API key', 'malformed')
  return credentials
}

function session(cookie: string | undefined): string | undefined {
  const pair = cookie?.split(/; */).find((pair) => pair.startsWith(`${SESSION_COOKIE}=`))
  return pair?.slice(SESSION_COOKIE.length + 1) || undefined
}
