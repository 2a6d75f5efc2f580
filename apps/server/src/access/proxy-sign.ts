import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isLoopback, LOOPBACK } from '../http/loopback.ts'

const FORWARDS_LOOPBACK = new RegExp(`^(?:proto="?(?:http|ws)"?|(?:for|by|host)=(?:${LOOPBACK}|"${LOOPBACK}"))$`, 'i')
const forwardsLoopback = (part: string) => FORWARDS_LOOPBACK.test(part)
const isPlain = (part: string) => /^(?:http|ws)$/i.test(part)
// Development proxies use neither of the public ports.
const isDevelopmentPort = (part: string) => /^(?!(?:80|443)$)\d{1,5}$/.test(part)

/** Whether a value is a sign of a proxy. No other header makes it none; `headers` can only make it one. */
type IsSign = (value: string | string[] | undefined, headers: IncomingHttpHeaders) => boolean

/** Development proxies send these only together. */
const isIncomplete = (headers: IncomingHttpHeaders) =>
  ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'].some((name) => headers[name] === undefined)

const ALWAYS = `Via CDN-Loop CF-Ray X-Forwarded-Ssl X-Forwarded-Scheme X-Forwarded-Protocol Front-End-Https X-Url-Scheme X-Scheme
  X-Cluster-Client-IP X-ProxyUser-Ip X-Original-Forwarded-For X-Original-Host X-Appengine-User-Ip X-Azure-ClientIP
  X-Vercel-Forwarded-For CF-Connecting-IP Fastly-Client-IP Fly-Client-IP True-Client-IP Client-IP Proxy-Client-IP
  WL-Proxy-Client-IP X-Remote-IP X-Remote-Addr X-Originating-IP X-Rewrite-URL X-Nginx-Proxy X-Varnish`
const NOT_LOOPBACK =
  'Forwarded-For X-Forwarded X-Forwarded-For X-Forwarded-Host X-Forwarded-Server X-Real-IP X-Client-IP'

/** Headers that only proxies, content delivery networks and tunnels send, and which of their values are a sign of one. */
const HEADERS: [name: string, isSign: IsSign][] = [
  ...ALWAYS.split(/\s+/).map((name): [string, IsSign] => [name, () => true]),
  ...NOT_LOOPBACK.split(' ').map((name): [string, IsSign] => [name, (value) => !areAll(value, isLoopback)]),
  ['X-Forwarded-Proto', (value, headers) => !areAll(value, isPlain) || isIncomplete(headers)],
  ['X-Forwarded-Port', (value, headers) => !areAll(value, isDevelopmentPort) || isIncomplete(headers)],
  ['Forwarded', (value) => !areAll(value, forwardsLoopback) || !String(value).split(',').every(namesClient)],
]
const SIGNS = new Map(HEADERS.map(([name, isSign]) => [name.toLowerCase(), { name, isSign }]))
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
  return remoteAddress === undefined || isLoopback(remoteAddress) ? undefined : 'its address'
}

const upper = (letter: string) => letter.toUpperCase()
const namesClient = (element: string) => /(?:^|;)\s*for=/i.test(element)

function areAll(value: string | string[] | undefined, isOne: (part: string) => boolean): boolean {
  return String(value)
    .split(/[,;]/)
    .every((part) => isOne(part.trim()))
}
