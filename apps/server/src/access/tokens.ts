import { ApiError } from '@resource/openapi'
import { errors, jwtVerify } from 'jose'
import type { Config } from '../process/config.ts'
import { type Caller, unauthorized } from './caller.ts'
import { createJwks } from './jwks.ts'
import { subjectOf } from './subjects.ts'

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
