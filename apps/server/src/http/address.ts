import { isIP } from 'node:net'
import type { Request } from 'express'

const MAPPED = '::ffff:'

/** The client address of a request; behind trusted proxies, the address they forward. */
export function addressOf(req: Request, behindProxy: boolean): string {
  const own = req.socket.remoteAddress ?? ''
  // Some proxies forward unvalidated client headers, so `req.ip` may be any text.
  return unmapped(behindProxy && isIP(req.ip ?? '') !== 0 ? (req.ip as string) : own)
}

/**
 * The address under which limits count a request; behind trusted proxies, the address they forward. For IPv6 the /64
 * prefix, because that is the smallest network a customer gets.
 */
export function callerAddress(req: Request, behindProxy: boolean): string {
  return networkOf(addressOf(req, behindProxy))
}

/** The address or network under which limits count an address: see `callerAddress`. */
export function networkOf(own: string): string {
  const address = unmapped(own)
  return address.includes(':') ? network(address) : address
}

function unmapped(address: string): string {
  return address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address
}

function network(address: string): string {
  const [start = '', end] = address.split('::')
  const groups = start === '' ? [] : start.split(':')
  if (end !== undefined) {
    const rest = end === '' ? [] : end.split(':')
    while (groups.length + rest.length < 8) groups.push('0')
    groups.push(...rest)
  }
  return `${groups.slice(0, 4).join(':')}::/64`
}
