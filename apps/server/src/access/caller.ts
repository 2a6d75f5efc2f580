import { ROLES, type Role } from '@resource/contract'
import { ApiError } from '@resource/openapi'

/** Who calls. */
export interface Caller {
  /** For the log and the audit: `key 3`, `anonymous`, the subject of a token. */
  name: string
  /** Who that is: the key's name, the token's issuer, or the user of this machine. */
  detail?: string
  role: Role
}

/** Whoever comes without credentials where none are needed. */
export const ANONYMOUS: Caller = { name: 'anonymous', role: 'admin' }

/** By what callers take turns, where they have to wait for each other: their names, or without credentials their addresses. */
export function turnOf({ caller, address }: { caller: Caller; address?: () => string }): string {
  return caller === ANONYMOUS && address !== undefined ? address() : caller.name
}

/** @throws ApiError 403 unless the caller's role includes `access` */
export function authorize({ caller }: { caller: Caller }, access: Role): void {
  if (includesRole(caller, access)) return
  throw new ApiError(403, `This needs the role ${access}; yours is ${caller.role}`, { reason: 'role' })
}

/** Whether the caller's role is `needed` or includes it. */
export function includesRole({ role }: Caller, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed)
}

/** Why credentials are not good. */
type Fault = 'malformed' | 'unknown_key' | 'revoked_key' | 'expired_key' | 'invalid_token'

/** A refusal for want of credentials, with the header that says how to authenticate (RFC 6750, 3). */
export function unauthorized(message: string, reason: 'no_credentials' | 'proxy' | Fault): ApiError {
  const isMissing = reason === 'no_credentials' || reason === 'proxy'
  const challenge = `Bearer realm="resource"${isMissing ? '' : ', error="invalid_token"'}`
  return new ApiError(401, message, { headers: { 'WWW-Authenticate': challenge }, reason })
}
