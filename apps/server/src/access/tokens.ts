import { ROLES, type Role } from '@resource/contract'
import { ApiError } from '@resource/openapi'
import { errors, type JWTPayload, jwtVerify } from 'jose'
import type { Config } from '../process/config.ts'
import { type Caller, unauthorized } from './caller.ts'
import { createJwks } from './jwks.ts'

/** Before the subject in the name of a caller with a token. */
export const SUBJECT_PREFIX = 'subject '

// The maximum length of OpenID Connect (Core 1.0, 2).
const SUBJECT = /^[^\p{Cc}\p{Cs}]{1,255}$/u

// jose's other errors mean that the token is invalid.
const PROVIDER_ERRORS = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID', 'ERR_JWK_INVALID'])

/**
 * Verifies access tokens (JWT) of an OpenID Connect provider.
 *
 * @param issuer the provider's URL
 */
export function createTokens(issuer: string, { OIDC_AUDIENCE = '', OIDC_ROLE_CLAIM, OIDC_TOKEN_TYPE }: Config) {
  const rules = {
    issuer,
    audience: OIDC_AUDIENCE,
    clockTolerance: 5,
    requiredClaims: ['exp', 'sub'],
    ...(OIDC_TOKEN_TYPE !== undefined && { typ: OIDC_TOKEN_TYPE }),
  }
  const keys = createJwks(issuer)

  /** @throws ApiError 401 for an invalid token, 403 for a token without a role, 503 if the provider is unavailable */
  return async (token: string): Promise<Caller> => {
    try {
      const { payload } = await jwtVerify(token, keys, rules)
      const validMs = ((payload.exp as number) + rules.clockTolerance) * 1000
      return { ...subjectOf(payload, issuer, OIDC_ROLE_CLAIM), validMs }
    } catch (error) {
      if (error instanceof ApiError) throw error
      if (error instanceof errors.JOSEError && !PROVIDER_ERRORS.has(error.code)) {
        throw unauthorized(`The token is invalid: ${error.message}`, 'invalid_token')
      }
      const headers = { 'Retry-After': '1' }
      throw new ApiError(503, 'The identity provider does not answer; try again', { headers, cause: error })
    }
  }
}

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
  return new ApiError(403, `The token’s ${claim} must be one of ${ROLES.join(', ')}`, { reason: 'token_role' })
}
