import { isIP } from 'node:net'
import type { Request } from 'express'

const MAPPED = '::ffff:'

/** Where a request comes from: the address, behind trusted proxies the one they name. */
export function addressOf(req: Request, behindProxy: boolean): string {
  const own = req.socket.remoteAddress ?? ''
  // A proxy that hands on what anyone wrote may name anything.
  return unmapped(behindProxy && isIP(req.ip ?? '') !== 0 ? (req.ip as string) : own)
}

/**
 * Whom a limit takes a request to be from: the address, behind trusted proxies the one they name. Of IPv6 the first 64
 * bits, which is the least that a customer gets.
 */
export function callerAddress(req: Request, behindProxy: boolean): string {
  return networkOf(addressOf(req, behindProxy))
}

/** What a limit counts an address as: see `callerAddress`. */
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
