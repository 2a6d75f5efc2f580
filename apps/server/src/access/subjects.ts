import { ROLES, type Role } from '@resource/contract'
import { ApiError } from '@resource/openapi'
import { or } from '@resource/openapi/contract'
import type { JWTPayload } from 'jose'
import { type Caller, unauthorized } from './caller.ts'

/** Before the subject in the name of a caller with a token. */
export const SUBJECT_PREFIX = 'subject '

// The maximum length of OpenID Connect (Core 1.0, 2).
const SUBJECT = /^[^\p{Cc}\p{Cs}]{1,255}$/u

/**
 * The caller that the claims of a verified token name.
 *
 * @param claim the one with the role
 * @throws ApiError 401 for an invalid subject, 403 without a role
 */
export function subjectOf(payload: JWTPayload, issuer: string, claim: string): Caller {
  checkTypes(payload)
  const claimed = [payload[claim]].flat()
  const role = ROLES.toReversed().find((role) => claimed.includes(role))
  if (role === undefined) throw noRole(claim)
  return {
    name: `${SUBJECT_PREFIX}${payload.sub}`,
    detail: issuer,
    subject: `${payload.sub}`,
    role: role satisfies Role,
  }
}

/**
 * The types of the claims that jose compares without checking their types.
 *
 * @throws ApiError 401
 */
function checkTypes({ sub, aud }: JWTPayload): void {
  const fault = (text: string) => unauthorized(`The token is invalid: its ${text}`, 'invalid_token')
  if (typeof sub !== 'string' || !SUBJECT.test(sub)) throw fault('"sub" must be 1 to 255 characters')
  if (![aud].flat().every((value) => typeof value === 'string'))
    throw fault('"aud" must be a string or an array of strings')
}

function noRole(claim: string): ApiError {
  return new ApiError(403, `The token’s ${claim} must be ${or(ROLES)}`, { reason: 'token_role' })
}
