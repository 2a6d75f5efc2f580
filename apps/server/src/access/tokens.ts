import { ROLES, type Role } from '@resource/contract'
import { Problem } from '@resource/openapi'
import { createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { type Caller, unauthorized } from './caller.ts'

export interface TokenOptions {
  /** The identity provider's address, under which its discovery document stands. */
  issuer: string
  audience: string
  /** The claim that holds the role, or a list that includes it. */
  roleClaim: string
}

// Whatever else jose finds wrong is the token's fault.
const FAULTS_OF_PROVIDER = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID', 'ERR_JWKS_TIMEOUT', 'ERR_JWK_INVALID'])

/** Verifies access tokens (JWT) of an OpenID Connect provider; its keys are fetched when needed, kept and rotated. */
export function createTokens({ issuer, audience, roleClaim }: TokenOptions) {
  let keys: Promise<JWTVerifyGetKey> | undefined
  const discovered = () => {
    keys ??= discover(issuer).catch((error) => {
      keys = undefined
      throw error
    })
    return keys
  }

  /** @throws Problem 401 for a token that does not hold, 403 without a role, 503 when the provider does not answer */
  return async (token: string): Promise<Caller> => {
    try {
      const { payload } = await jwtVerify(token, await discovered(), { issuer, audience, clockTolerance: 5 })
      const claimed = [payload[roleClaim]].flat()
      const role = ROLES.toReversed().find((role) => claimed.includes(role))
      if (role === undefined) throw new Problem(403, `The token’s ${roleClaim} must be one of ${ROLES.join(', ')}`)
      return { name: `subject ${payload.sub ?? ''}`.trim(), detail: issuer, role: role satisfies Role }
    } catch (error) {
      if (error instanceof Problem) throw error
      if (error instanceof errors.JOSEError && !FAULTS_OF_PROVIDER.has(error.code)) {
        throw unauthorized(`The token does not hold: ${error.message}`, 'invalid_token')
      }
      const headers = { 'Retry-After': '1' }
      throw new Problem(503, 'The identity provider does not answer; try again', { headers, cause: error })
    }
  }
}

async function discover(issuer: string): Promise<JWTVerifyGetKey> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  const { jwks_uri } = (await response.json()) as { jwks_uri: string }
  return createRemoteJWKSet(new URL(jwks_uri), { timeoutDuration: 5_000 })
}
