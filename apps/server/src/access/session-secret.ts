import { hash, randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { CookieOptions, Request } from 'express'

const FORM = /^[\w-]{43}$/

/** A new secret of 256 bits. Only its hash is stored. */
export function newSecret(): { secret: string; hash: string } {
  const secret = randomBytes(32).toString('base64url')
  return { secret, hash: secretHash(secret) }
}

/** Whether a text has the form of a secret. */
export function isSecret(text: string): boolean {
  return FORM.test(text)
}

/** A secret is random and long, so a fast hash is enough. */
export function secretHash(secret: string): string {
  return hash('sha256', secret)
}

/** The name of a cookie: over https, with the prefix that other hosts, and pages over http, cannot set. */
export function cookieName(name: string, isHttps: boolean): string {
  return isHttps ? `__Host-${name}` : name
}

/** The options of a cookie that no script can read and that only this host gets. */
export function cookieOptions(sameSite: 'strict' | 'lax', isHttps: boolean): CookieOptions {
  return { httpOnly: true, sameSite, secure: isHttps, path: '/' }
}

/** Whether the browser uses https. A proxy that is not trusted does not show it, but the origin of a page does. */
export function usesHttps(req: Request): boolean {
  return req.secure || (req.headers.origin?.startsWith('https:') ?? false)
}

/** The value of a cookie; undefined if it is absent or empty. Over https only one that was set over https. */
export function readCookie({ cookie }: IncomingHttpHeaders, name: string, isHttps = false): string | undefined {
  const pairs = cookie?.split(/; */) ?? []
  const find = (name: string) => pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
  return find(cookieName(name, true)) || (isHttps ? undefined : find(name)) || undefined
}
