import { ROLES, type Role } from '@resource/contract'
import { ApiError } from '@resource/openapi'

/** The caller of a request. */
export interface Caller {
  /** In the request log and the audit log: `key 3`, `anonymous`, or the subject of a token. */
  name: string
  /** The name of the key, the issuer of the token, or the user of the operating system. */
  detail?: string
  /** The name of the key, also in a session of the console. */
  keyName?: string
  /** Whom the caller acts for: the `sub` of a token, or the owner of an API key. Absent without credentials, and for a key without owner. */
  subject?: string
  role: Role
  /** Until when nothing can end the validity of the credentials, in ms. Default: it can end at any time. */
  validMs?: number
  /** The API key, with the hash of the secret that was sent. */
  key?: { id: number; hash: string }
  /** The id of the session of the console. */
  sessionId?: number
}

/** The caller of a request without credentials, if none are needed. */
export const ANONYMOUS: Caller = { name: 'anonymous', role: 'admin' }

/** The key for fair queueing between callers: the caller's name, or the address for anonymous callers. */
export function queueKey({ caller, address }: { caller: Caller; address?: () => string }): string {
  return caller === ANONYMOUS && address !== undefined ? address() : caller.name
}

/** @throws ApiError 403 if the caller's role does not include `access` */
export function authorize({ caller }: { caller: Caller }, access: string | undefined): void {
  const needed = roleFor(access)
  if (includesRole(caller, needed)) return
  throw new ApiError(403, `This needs the role ${needed}; yours is ${caller.role}`, { reason: 'role' })
}

/** Whether the caller's role includes the `access` of a procedure. */
export function mayUse(caller: Caller, access: string | undefined): boolean {
  return includesRole(caller, roleFor(access))
}

// A procedure without a role is for administrators.
const roleFor = (access: string | undefined) => ROLES.find((role) => role === access) ?? 'admin'

/** Whether the caller's role is `needed` or includes it. */
export function includesRole({ role }: Caller, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed)
}

/** The reason why credentials are invalid. */
type Fault = 'malformed' | 'unknown_key' | 'revoked_key' | 'expired_key' | 'invalid_token' | 'ended_session'

/** An ApiError 401 with the header `WWW-Authenticate` (RFC 6750, 3). */
export function unauthorized(message: string, reason: 'no_credentials' | 'proxy' | Fault): ApiError {
  const isMissing = reason === 'no_credentials' || reason === 'proxy'
  const challenge = `Bearer realm="resource"${isMissing ? '' : ', error="invalid_token"'}`
  return new ApiError(401, message, { headers: { 'WWW-Authenticate': challenge }, reason })
}
