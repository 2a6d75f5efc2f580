import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Request } from 'express'
import { ANONYMOUS, type Caller, unauthorized } from './caller.ts'
import type { Keys } from './keyring.ts'
import { readCookie } from './session-secret.ts'
import type { Sessions } from './sessions.ts'

/** The console's cookie. It holds the secret of a session. */
export const SESSION_COOKIE = 'session'

/**
 * @param headers the headers with the credentials; by default those of the request
 * @throws ApiError 401, synchronously or as a rejection
 */
export type Authenticate = (req: IncomingMessage, headers?: IncomingHttpHeaders) => Caller | Promise<Caller>

/**
 * Creates a function that identifies the caller by an API key or a token in `Authorization: Bearer`, or by the session in the
 * console's cookie. Without any key and identity provider, a direct request without credentials has full access.
 *
 * @param proxyOf the sign that a request came through a proxy; undefined for a direct request
 * @param verifyToken undefined without an identity provider
 */
export function createAuthenticate(
  keyring: Keys,
  sessions: Sessions,
  proxyOf: (req: IncomingMessage) => string | undefined,
  verifyToken?: (token: string) => Promise<Caller>,
): Authenticate {
  const admitAnonymous = (hasKeys: boolean, req: IncomingMessage, isEnded: boolean): Caller => {
    if (hasKeys && isEnded) throw unauthorized('The session has ended; log in again', 'ended_session')
    if (hasKeys) throw unauthorized('Send Authorization: Bearer with an API key', 'no_credentials')
    const sign = proxyOf(req)
    if (sign !== undefined) throw unauthorized(throughProxy(sign), 'proxy')
    return ANONYMOUS
  }
  // A JWT contains dots, an API key does not.
  const callerOf = (credentials: string) =>
    verifyToken !== undefined && credentials.includes('.') ? verifyToken(credentials) : keyring.callerOf(credentials)
  const anonymous = (req: IncomingMessage, isEnded: boolean) => {
    const hasKeys = verifyToken !== undefined || keyring.hasKeys()
    return hasKeys instanceof Promise
      ? hasKeys.then((hasKeys) => admitAnonymous(hasKeys, req, isEnded))
      : admitAnonymous(hasKeys, req, isEnded)
  }
  return (req, headers = req.headers) => {
    const sent = bearer(headers.authorization)
    if (sent !== undefined) return callerOf(sent)
    if (headers.cookie === undefined) return anonymous(req, false)
    // An Express request by its prototype: see http-server.ts.
    const secret = readCookie(headers, SESSION_COOKIE, (req as Request).secure)
    if (secret === undefined) return anonymous(req, false)
    const caller = sessions.callerOf(secret)
    if (caller instanceof Promise) return caller.then((caller) => caller ?? anonymous(req, true))
    return caller ?? anonymous(req, true)
  }
}

function throughProxy(sign: string): string {
  return `Only direct requests from the service's own machine need no credentials, but this request came through a proxy (${sign}). Send Authorization: Bearer with an API key. To create one, run on that machine: resource keys create --name operator --role admin --database "$DATABASE_URL"`
}

/** The credentials of a request, valid or not, as sent. */
export function credentials(headers: IncomingHttpHeaders): string | undefined {
  return headers.authorization ?? (headers.cookie === undefined ? undefined : readCookie(headers, SESSION_COOKIE))
}

function bearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  const [, credentials] = /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization) ?? []
  if (credentials === undefined) throw unauthorized('Authorization must be Bearer followed by an API key', 'malformed')
  return credentials
}
