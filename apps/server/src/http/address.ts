import { isIP, SocketAddress } from 'node:net'
import type { Request } from 'express'

const MAPPED = '::ffff:'
// Some proxies append the client's port: 192.0.2.1:4711, [2001:db8::1]:4711.
const WITH_PORT = /^(?:\[([\da-f:.]+)\]|(\d+(?:\.\d+){3}))(?::\d{1,5})?$/i
// Spellings of an IPv6 address that `network` cannot compare, or that may be of an IPv4 address. Others are not parsed,
// because SocketAddress takes more than a microsecond.
const UNCOMMON = /[A-Z%.]|\b0[\da-f]|^[0:]/

/** The client address of a request; behind trusted proxies, the address they forward. */
export function addressOf(req: Request, behindProxy: boolean): string {
  const own = req.socket.remoteAddress ?? ''
  const text = behindProxy ? (req.ip ?? own) : own
  return unmapped(text === own ? own : (forwardedAddress(text) ?? own))
}

// Some proxies forward unvalidated client headers, so `text` may be anything.
function forwardedAddress(text: string): string | undefined {
  const [, v6, v4] = (isIP(text) === 0 && WITH_PORT.exec(text)) || []
  const address = v6 ?? v4 ?? text
  const version = isIP(address)
  if (version === 6 && UNCOMMON.test(address)) return new SocketAddress({ address, family: 'ipv6' }).address
  return version === 0 ? undefined : address
}

/**
 * The address under which limits count a request; behind trusted proxies, the address they forward. For IPv6 the /64
 * prefix, because that is the smallest network a customer gets.
 */
export function callerAddress(req: Request, behindProxy: boolean): string {
  const address = addressOf(req, behindProxy)
  return address.includes(':') ? network(address) : address
}

function unmapped(address: string): string {
  return address.startsWith(MAPPED) && address.includes('.') ? address.slice(MAPPED.length) : address
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
