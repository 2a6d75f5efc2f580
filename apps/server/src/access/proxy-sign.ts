import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isLoopback, LOOPBACK } from '../http/loopback.ts'

const FORWARDS_LOOPBACK = new RegExp(`^(?:proto="?(?:http|ws)"?|(?:for|by|host)=(?:${LOOPBACK}|"${LOOPBACK}"))$`, 'i')
const forwardsLoopback = (part: string) => FORWARDS_LOOPBACK.test(part)
const isPlain = (part: string) => /^(?:http|ws)$/i.test(part)
// Development proxies use neither of the public ports.
const isDevelopmentPort = (part: string) => /^(?!(?:80|443)$)\d{1,5}$/.test(part)

/** Whether a value is a sign of a proxy. No other header makes it none; `headers` can only make it one. */
type IsSign = (value: string | string[] | undefined, headers: IncomingHttpHeaders) => boolean

const always: IsSign = () => true
const notLoopback: IsSign = (value) => !areAll(value, isLoopback)

/** Development proxies send these only together. */
const isIncomplete = (headers: IncomingHttpHeaders) =>
  ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'].some((name) => headers[name] === undefined)

/** Headers that only proxies, content delivery networks and tunnels send, and which of their values are a sign of one. */
const HEADERS: Record<string, IsSign> = {
  Via: always,
  'CDN-Loop': always,
  'CF-Ray': always,
  'X-Forwarded-Proto': (value, headers) => !areAll(value, isPlain) || isIncomplete(headers),
  'X-Forwarded-Port': (value, headers) => !areAll(value, isDevelopmentPort) || isIncomplete(headers),
  Forwarded: (value) => !areAll(value, forwardsLoopback) || !String(value).split(',').every(namesClient),
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
  return remoteAddress === undefined || isLoopback(remoteAddress) ? undefined : 'its address'
}

const upper = (letter: string) => letter.toUpperCase()
const namesClient = (element: string) => /(?:^|;)\s*for=/i.test(element)

function areAll(value: string | string[] | undefined, isOne: (part: string) => boolean): boolean {
  return String(value)
    .split(/[,;]/)
    .every((part) => isOne(part.trim()))
}
