import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { ApiError } from '@resource/openapi'
import type { Request, RequestHandler } from 'express'

/** Settings that say which names are the service's. */
interface HostSettings {
  ALLOWED_HOSTS: string[]
  ALLOW_ANONYMOUS: boolean
}

const HOST = /^(?:\[[\da-f:.]+\]|[\w.~-]+)(?::\d*)?$/i
const LOOPBACK = /^(?:localhost|[\w-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d*)?$/i

/** Whether an address to listen on is of this machine alone. */
export function isLoopback(address: string): boolean {
  return LOOPBACK.test(address.includes(':') ? `[${address}]` : address)
}

/** Whether nobody on the way can change what an address answers: on https, or on this machine. */
export function isSecure(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname.replace(/^\[|\]$/g, '')))
}

// Callers name the same host again and again.
let knownAsFine: string | undefined

/**
 * Refuses a request whose Host is missing or malformed, as RFC 9112 (3.2) requires. Node would refuse only the first, and
 * without a body. Where no credentials are needed it also refuses names that may not be the service's: else a page whose
 * name was made to resolve to its address (DNS rebinding) could read and write what is meant for others.
 *
 * @param isOpen whether a request needs no credentials
 */
export function checkHost(
  isOpen: (req: Request) => boolean | Promise<boolean>,
  settings: HostSettings,
): RequestHandler {
  const isOurs = hostRule(settings)
  return (req, _res, next) => {
    const { host } = req.headers
    if (host === undefined ? req.httpVersion !== '1.0' : host !== knownAsFine && !isHost(host)) {
      throw new ApiError(400, 'The Host header must be a host name or an address, with or without a port')
    }
    knownAsFine = host
    if (host === undefined || LOOPBACK.test(host)) return next()
    const settle = (isOpen: boolean) => {
      if (isOpen && !isOurs(host)) throw new ApiError(403, NOT_OURS, { reason: 'host' })
      return next()
    }
    const answer = isOpen(req)
    return answer instanceof Promise ? answer.then(settle) : settle(answer)
  }
}

/**
 * Whether a Host can only be meant for this service: one of ALLOWED_HOSTS. Where ALLOW_ANONYMOUS opens it to other
 * machines, also this machine's name, any address, and any name without a dot, which the public DNS does not have.
 */
function hostRule({ ALLOWED_HOSTS, ALLOW_ANONYMOUS }: HostSettings): (host: string) => boolean {
  const own = hostname().toLowerCase()
  const names = new Set([...ALLOWED_HOSTS, ...(ALLOW_ANONYMOUS ? [own, `${own}.local`] : [])])
  return (host) => {
    const { hostname: name } = new URL(`http://${host}`)
    return names.has(name) || (ALLOW_ANONYMOUS && (isIP(name) !== 0 || /^\[|^[^.]+$/.test(name)))
  }
}

const NOT_OURS =
  'Without API keys the service answers to the names of this machine alone, such as localhost; ALLOWED_HOSTS adds names'

function isHost(host: string): boolean {
  return HOST.test(host) && URL.canParse(`http://${host}`)
}
