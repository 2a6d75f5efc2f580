import type * as Library from 'openid-client'
import { isLoopback, isSecure } from '../http/loopback.ts'
import type { Config } from '../process/config.ts'
import type { Caller } from './caller.ts'
import { fetchFromProvider } from './provider-fetch.ts'
import { subjectOf } from './subjects.ts'

const TIMEOUT_S = 5
const RETRY_MS = 1_000

/** What the browser keeps between the beginning and the end of a sign-in. */
export interface Attempt {
  state: string
  nonce: string
  verifier: string
}

/** Why a sign-in failed. The console has a sentence for each. */
export type Reason = 'attempt' | 'denied' | 'host' | 'invalid' | 'role' | 'unavailable'

/** A sign-in that failed; its message is for the log. */
export class SignInFailure extends Error {
  readonly reason: Reason

  constructor(reason: Reason, message: string) {
    super(message)
    this.reason = reason
  }
}

/**
 * The authorization code flow of OpenID Connect, with PKCE, state and nonce.
 *
 * @param issuer the provider's URL
 * @param clientId the name of the service at the provider
 */
export function createCodeFlow(
  issuer: string,
  clientId: string,
  { OIDC_CLIENT_SECRET, OIDC_SCOPE, OIDC_ROLE_CLAIM }: Config,
) {
  let found: Promise<{ library: typeof Library; provider: Library.Configuration }> | undefined
  const discover = async () => {
    // Loaded on demand, because it costs memory and startup time.
    const library = await import('openid-client')
    const authentication =
      OIDC_CLIENT_SECRET === undefined ? library.None() : library.ClientSecretBasic(OIDC_CLIENT_SECRET)
    const url = new URL(issuer)
    // By default the signature of an ID token that comes from the provider itself is not checked.
    const execute = [library.enableNonRepudiationChecks]
    if (url.protocol === 'http:' && isLoopback(url.hostname)) execute.push(library.allowInsecureRequests)
    const customFetch: Library.CustomFetch = (url, { body, ...options }) =>
      fetchFromProvider(url, {
        ...options,
        ...(body !== undefined && { body: body instanceof Uint8Array ? Buffer.from(body) : body }),
      })
    const options = { execute, timeout: TIMEOUT_S, [library.customFetch]: customFetch }
    const provider = await library.discovery(url, clientId, undefined, authentication, options)
    const { authorization_endpoint: endpoint } = provider.serverMetadata()
    if (typeof endpoint !== 'string' || !isSecure(endpoint))
      throw new TypeError(`the authorization_endpoint ${endpoint} must be https, or http on loopback`)
    return { library, provider }
  }
  const discovered = () => {
    found ??= discover().catch((error: Error) => {
      // However many sign-ins begin meanwhile, the provider gets one request a second.
      setTimeout(() => {
        found = undefined
      }, RETRY_MS).unref()
      throw new SignInFailure('unavailable', error.message)
    })
    return found
  }

  return {
    /** The URL of the provider at which an attempt begins. */
    begin: async (redirectUri: string): Promise<{ url: URL; attempt: Attempt }> => {
      const { library, provider } = await discovered()
      const attempt = {
        state: library.randomState(),
        nonce: library.randomNonce(),
        verifier: library.randomPKCECodeVerifier(),
      }
      const url = library.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        scope: OIDC_SCOPE,
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await library.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      })
      return { url, attempt }
    },

    /**
     * The caller whom the provider names at the end of an attempt.
     *
     * @param url the redirect URI with the parameters of the provider
     * @throws SignInFailure
     */
    finish: async (url: URL, { state, nonce, verifier }: Attempt): Promise<Caller> => {
      const { library, provider } = await discovered()
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true }
      const tokens = await library.authorizationCodeGrant(provider, url, checks).catch((error: Error) => {
        throw new SignInFailure(reasonOf(error, library), messageOf(error))
      })
      try {
        return subjectOf({ ...tokens.claims() }, issuer, OIDC_ROLE_CLAIM)
      } catch (error) {
        throw new SignInFailure('role', (error as Error).message)
      }
    },
  }
}

function reasonOf(error: Error, library: typeof Library): Reason {
  if (error instanceof library.AuthorizationResponseError) return error.error === 'access_denied' ? 'denied' : 'invalid'
  // The code has expired or was used before.
  if (error instanceof library.ResponseBodyError) return error.error === 'invalid_grant' ? 'attempt' : 'invalid'
  if (error instanceof TypeError) return 'unavailable'
  return (error as { code?: unknown }).code === 'OAUTH_TIMEOUT' ? 'unavailable' : 'invalid'
}

// Not the error itself, whose causes may contain tokens.
function messageOf({ message, cause }: Error & { error?: string }): string {
  return cause instanceof Error ? `${message}: ${cause.message}` : message
}
