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

/** Whether a request has credentials, valid or not. */
export function hasCredentials({ authorization, cookie }: IncomingHttpHeaders): boolean {
  return authorization !== undefined || session(cookie) !== undefined
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

const ADDRESS = String.raw`localhost|(?:[\w-]+\.)+localhost|127(?:\.\d{1,3}){3}|\[(?:::1|::ffff:127(?:\.\d{1,3}){3})\]`
const LOOPBACK = `(?:(?:${ADDRESS})(?::\\d{1,5})?|::1|::ffff:127(?:\\.\\d{1,3}){3})`
const NAMES_LOOPBACK = new RegExp(`^${LOOPBACK}$`, 'i')
const FORWARDS_LOOPBACK = new RegExp(`^(?:proto="?(?:http|ws)"?|(?:for|by|host)=(?:${LOOPBACK}|"${LOOPBACK}"))$`, 'i')
const IS_PLAIN = /^(?:http|ws)$/i
// Development proxies use neither of the public ports.
const IS_DEVELOPMENT_PORT = /^(?!(?:80|443)$)\d{1,5}$/

/** Whether a value is a sign of a proxy. No other header makes it none; `headers` can only make it one. */
type IsSign = (value: string | string[] | undefined, headers: IncomingHttpHeaders) => boolean

const always: IsSign = () => true
const notLoopback: IsSign = (value) => isForeign(value, NAMES_LOOPBACK)

/** Development proxies send these only together. */
const isIncomplete = (headers: IncomingHttpHeaders) =>
  ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'].some((name) => headers[name] === undefined)

/** Headers that only proxies, content delivery networks and tunnels send, and which of their values are a sign of one. */
const HEADERS: Record<string, IsSign> = {
  Via: always,
  'CDN-Loop': always,
  'CF-Ray': always,
  'X-Forwarded-Proto': (value, headers) => isForeign(value, IS_PLAIN) || isIncomplete(headers),
  'X-Forwarded-Port': (value, headers) => isForeign(value, IS_DEVELOPMENT_PORT) || isIncomplete(headers),
  Forwarded: (value) => isForeign(value, FORWARDS_LOOPBACK) || !String(value).split(',').every(namesClient),
  'Forwarded-For': notLoopback,
  'X-Forwarded': notLoopback,
  'X-Forwarded-For': notLoopback,
  'X-Forwarded-Host': notLoopback,
  'X-Forwarded-Server': notLoopback,
  'X-Real-IP': notLoopback,
  'X-Client-IP': notLoopback,
  'X-Forwarded-Ssl': always,
  'X-Forwarded-Scheme': always,
  'X-Forwarded-Protocol': always,
  'Front-End-Https': always,
  'X-Url-Scheme': always,
  'X-Scheme': always,
  'X-Cluster-Client-IP': always,
  'X-ProxyUser-Ip': always,
  'X-Original-Forwarded-For': always,
  'X-Original-Host': always,
  'X-Appengine-User-Ip': always,
  'X-Azure-ClientIP': always,
  'X-Vercel-Forwarded-For': always,
  'CF-Connecting-IP': always,
  'Fastly-Client-IP': always,
  'Fly-Client-IP': always,
  'True-Client-IP': always,
  'Client-IP': always,
  'Proxy-Client-IP': always,
  'WL-Proxy-Client-IP': always,
  'X-Remote-IP': always,
  'X-Remote-Addr': always,
  'X-Originating-IP': always,
  'X-Rewrite-URL': always,
  'X-Nginx-Proxy': always,
  'X-Varnish': always,
}
const SIGNS = new Map(Object.entries(HEADERS).map(([name, isSign]) => [name.toLowerCase(), { name, isSign }]))
/** Groups of further headers, by how their names begin. */
const PREFIXES =
  /^(x-(?:akamai|amz-cf|amzn|appengine|arr|azure|cloud-trace|envoy|fastly|forwarded|original|sucuri|vercel)-|akamai-|cdn-|cf-|fastly-|fly-|incap-|proxy-)/

/**
 * The sign that a request came through a proxy, such as `the header Via`. The address of its connection then does not
 * identify the client. Development proxies on this machine, such as Vite's and Next.js's, forward loopback addresses and
 * count as direct. So does a proxy that sends no sign, such as nginx from 1.29.7 by default: it cannot be recognized.
 *
 * @returns undefined for a direct request from this machine
 */
export function proxySign({ headers, httpVersion, socket }: IncomingMessage): string | undefined {
  // nginx's default protocol version to upstreams before 1.29.7; it adds no header by default.
  if (httpVersion === '1.0') return 'HTTP/1.0'
  // A request has fewer headers than there are signs.
  for (const key in headers) {
    const sign = SIGNS.get(key)
    if (sign?.isSign(headers[key], headers)) return `the header ${sign.name}`
    const prefix = sign === undefined ? PREFIXES.exec(key)?.[1] : undefined
    if (prefix !== undefined) return `a header that begins with ${prefix.replace(/(?<=^|-)[a-z]/g, upper)}`
  }
  const { remoteAddress } = socket
  // Undefined once the connection is closed.
  return remoteAddress === undefined || NAMES_LOOPBACK.test(remoteAddress) ? undefined : 'its address'
}

const upper = (letter: string) => letter.toUpperCase()
const namesClient = (element: string) => /(?:^|;)\s*for=/i.test(element)

function isForeign(value: string | string[] | undefined, loopback: RegExp): boolean {
  return !String(value)
    .split(/[,;]/)
    .every((part) => loopback.test(part.trim()))
}
