import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { ApiError } from '@resource/openapi'
import type { Request } from 'express'
import type { Check } from './checks.ts'
import { isLoopback } from './loopback.ts'

/** Settings that define the host names of the service. */
interface HostSettings {
  ALLOWED_HOSTS: string[]
  ALLOW_ANONYMOUS: boolean
}

const HOST = /^(?:\[[\da-f:.]+\]|[\w.~-]+)(?::\d*)?$/i

// Most requests send the same Host; this skips the expressions for a repeated one.
let last: { host: string | undefined; isLoopback: boolean } = { host: undefined, isLoopback: false }

// Node 20 drops the fields after these without an error, and with them conditions such as If-Match. Newer versions refuse them.
const MAX_FIELDS = 1_000

/**
 * Refuses requests with too many header fields, with a missing, repeated or malformed Host, as RFC 9112 (3.2) requires, and with
 * repeated credentials or media types. Node refuses only a missing Host, and without a body. If no credentials are needed, it also refuses foreign host
 * names: otherwise a page could resolve its own name to the service's address (DNS rebinding) to read and write records.
 *
 * @param isOpen whether a request needs no credentials
 */
export function checkHost(isOpen: (req: Request) => boolean | Promise<boolean>, settings: HostSettings): Check {
  const isOwnHost = hostRule(settings)
  return (req) => {
    const { host } = req.headers
    if (req.rawHeaders.length > 2 * MAX_FIELDS) {
      throw new ApiError(431, 'A request must have at most 1,000 header fields')
    }
    if (host === undefined ? req.httpVersion !== '1.0' : host !== last.host && !isHost(host)) {
      throw new ApiError(400, 'The Host header must be a host name or an address, with an optional port')
    }
    if (host !== last.host) last = { host, isLoopback: host === undefined || isLoopback(host) }
    const repeated = repeatedHeader(req.rawHeaders)
    if (repeated !== undefined) throw new ApiError(400, `The ${repeated} header must be given once`)
    if (host === undefined || last.isLoopback) return undefined
    const check = (isOpen: boolean) => {
      if (isOpen && !isOwnHost(host)) throw new ApiError(403, FOREIGN_HOST, { reason: 'host' })
    }
    const open = isOpen(req)
    return open instanceof Promise ? open.then(check) : check(open)
  }
}

// Node takes the first; a proxy may have taken another. By their lengths, which all differ, because every request is checked.
const SINGLE_HEADERS: (string | undefined)[] = Array(14).fill(undefined)
for (const name of ['Host', 'Content-Type', 'Authorization']) SINGLE_HEADERS[name.length] = name

function repeatedHeader(rawHeaders: readonly string[]): string | undefined {
  let seen = 0
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const sent = rawHeaders[n] as string
    const name = SINGLE_HEADERS[sent.length]
    if (name === undefined || sent.toLowerCase() !== name.toLowerCase()) continue
    const bit = 1 << name.length
    if (seen & bit) return name
    seen |= bit
  }
  return undefined
}

/**
 * Returns whether a Host belongs to this service: one of ALLOWED_HOSTS. With ALLOW_ANONYMOUS, also this machine's name, any
 * IP address, and any name without a dot, because public DNS has no such names.
 */
function hostRule({ ALLOWED_HOSTS, ALLOW_ANONYMOUS }: HostSettings): (host: string) => boolean {
  const own = hostname().toLowerCase()
  const names = new Set([...ALLOWED_HOSTS, ...(ALLOW_ANONYMOUS ? [own, `${own}.local`] : [])])
  return (host) => {
    const { hostname: name } = new URL(`http://${host}`)
    return names.has(name) || (ALLOW_ANONYMOUS && (isIP(name) !== 0 || /^\[|^[^.]+$/.test(name)))
  }
}

const FOREIGN_HOST =
  'Host is not allowed: without API keys, only loopback names such as localhost are; add other names to ALLOWED_HOSTS'

function isHost(host: string): boolean {
  return HOST.test(host) && URL.canParse(`http://${host}`)
}
