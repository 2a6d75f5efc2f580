import { ROLES, type Role } from '@resource/contract'
import { Problem } from '@resource/openapi'

/** Who calls. */
export interface Caller {
  /** For the log and the audit: `key 3`, `anonymous`, the subject of a token. */
  name: string
  /** Who that is: the key's name, the token's issuer, or the user of this machine. */
  detail?: string
  role: Role
}

/** @throws Problem 403 unless the caller's role includes `access` */
export function authorize({ caller }: { caller: Caller }, access: Role): void {
  if (ROLES.indexOf(caller.role) >= ROLES.indexOf(access)) return
  throw new Problem(403, `This needs the role ${access}; yours is ${caller.role}`)
}

/** A refusal for want of credentials, with the header that says how to authenticate (RFC 6750, 3). */
export function unauthorized(message: string, error?: 'invalid_token'): Problem {
  const challenge = `Bearer realm="resource"${error ? `, error="${error}"` : ''}`
  return new Problem(401, message, { headers: { 'WWW-Authenticate': challenge } })
}
