import { ROLES, type Role } from '@resource/contract'
import { ApiError } from '@resource/openapi'
import { createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { isSecure } from '../http/host.ts'
import type { Config } from '../process/config.ts'
import { type Caller, unauthorized } from './caller.ts'

// The maximum length of OpenID Connect (Core 1.0, 2).
const SUBJECT = /^[^\p{Cc}\p{Cs}]{1,255}$/u

// jose's other errors mean that the token is invalid.
const PROVIDER_ERRORS = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID', 'ERR_JWKS_TIMEOUT', 'ERR_JWK_INVALID'])

/**
 * Verifies access tokens (JWT) of an OpenID Connect provider. Its keys are fetched on demand, cached and rotated.
 *
 * @param issuer the provider's URL, to which the path of its discovery document is appended
 */
export function createTokens(issuer: string, { OIDC_AUDIENCE = '', OIDC_ROLE_CLAIM, OIDC_TOKEN_TYPE }: Config) {
  const rules = {
    issuer,
    audience: OIDC_AUDIENCE,
    clockTolerance: 5,
    requiredClaims: ['exp', 'sub'],
    ...(OIDC_TOKEN_TYPE !== undefined && { typ: OIDC_TOKEN_TYPE }),
  }
  let keys: Promise<JWTVerifyGetKey> | undefined
  const discovered = () => {
    keys ??= discover(issuer).catch((error) => {
      keys = undefined
      throw error
    })
    return keys
  }

  /** @throws ApiError 401 for an invalid token, 403 for a token without a role, 503 if the provider is unavailable */
  return async (token: string): Promise<Caller> => {
    try {
      const { payload } = await jwtVerify(token, await discovered(), rules)
      if (!SUBJECT.test(String(payload.sub))) throw noSubject()
      const claimed = [payload[OIDC_ROLE_CLAIM]].flat()
      const role = ROLES.toReversed().find((role) => claimed.includes(role))
      if (role === undefined) throw noRole(OIDC_ROLE_CLAIM)
      return { name: `subject ${payload.sub}`, detail: issuer, role: role satisfies Role }
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

function noSubject(): ApiError {
  return unauthorized('The token is invalid: its "sub" must be 1 to 255 characters', 'invalid_token')
}

function noRole(claim: string): ApiError {
  return new ApiError(403, `The token’s ${claim} must be one of ${ROLES.join(', ')}`, { reason: 'token_role' })
}

async function discover(issuer: string): Promise<JWTVerifyGetKey> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  const { issuer: stated, jwks_uri } = (await response.json()) as { issuer?: string; jwks_uri: string }
  if (stated !== issuer) throw new Error(`${url} names the issuer ${stated}, but OIDC_ISSUER is ${issuer}`)
  if (!isSecure(jwks_uri))
    throw new Error(`${url} names the jwks_uri ${jwks_uri}, which must be https, or http on loopback`)
  return createRemoteJWKSet(new URL(jwks_uri), { timeoutDuration: 5_000 })
}
