import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { ANONYMOUS, type Caller, unauthorized } from './caller.ts'
import type { Keyring } from './keyring.ts'

/** The cookie of the console: it holds the key where no script can read it. */
export const SESSION_COOKIE = 'resource_session'

/**
 * @param headers with the credentials: those of the request when absent
 * @throws ApiError 401, at once or as a rejection
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

const ADDRESS = String.raw`localhost|(?:[\w-]+\.)+localhost|127(?:\.\d{1,3}){3}|\[(?:::1|::ffff:127(?:\.\d{1,3}){3})\]`
const LOOPBACK = `(?:(?:${ADDRESS})(?::\\d{1,5})?|::1|::ffff:127(?:\\.\\d{1,3}){3})`
const NAMES_LOOPBACK = new RegExp(`^${LOOPBACK}$`, 'i')
const FORWARDS_LOOPBACK = new RegExp(`^(?:proto="?\\w+"?|(?:for|by|host)=(?:${LOOPBACK}|"${LOOPBACK}"))$`, 'i')

/**
 * What shows that a request came through a proxy, so that its connection says nothing about who sent it: `the header Via`.
 * Proxies that serve this machine alone, such as those of Vite and Next.js, name loopback addresses, and are no sign.
 *
 * @returns undefined for a direct request of this machine
 */
export function proxySign({ headers, httpVersion, socket }: IncomingMessage): string | undefined {
  if (headers.via !== undefined) return 'the header Via'
  // What nginx speaks by default to the service behind it, without any header of its own.
  if (httpVersion === '1.0') return 'HTTP/1.0'
  if (isForeign(headers['x-forwarded-for'], NAMES_LOOPBACK)) return 'the header X-Forwarded-For'
  if (isForeign(headers['x-forwarded-host'], NAMES_LOOPBACK)) return 'the header X-Forwarded-Host'
  if (isForeign(headers['x-real-ip'], NAMES_LOOPBACK)) return 'the header X-Real-IP'
  if (isForeign(headers.forwarded, FORWARDS_LOOPBACK)) return 'the header Forwarded'
  const { remoteAddress } = socket
  // Absent once the connection is gone.
  return remoteAddress === undefined || NAMES_LOOPBACK.test(remoteAddress) ? undefined : 'its address'
}

function isForeign(value: string | string[] | undefined, loopback: RegExp): boolean {
  if (value === undefined) return false
  return !String(value)
    .split(/[,;]/)
    .every((part) => loopback.test(part.trim()))
}
