import type { IncomingMessage } from 'node:http'

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
