import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { isSecure } from '../http/loopback.ts'
import { fetchFromProvider } from './provider-fetch.ts'

const TIMEOUT_MS = 5_000
/** The age at which keys are fetched again: a key that the provider has withdrawn is valid that long. */
const MAX_AGE_MS = 10 * 60_000
/** An unknown key id causes a fetch at most this often. */
const COOLDOWN_MS = 30_000
const MAX_PAUSE_MS = 30_000

/**
 * The signing keys of an OpenID Connect provider: fetched on demand, cached and rotated. Ages are measured by the monotonic
 * clock, so that a clock that is set back prolongs none. After two failed fetches in a row there is a pause of one second,
 * which doubles with each further failure: meanwhile callers get the last error, and no request waits for the provider.
 *
 * @param issuer the provider's URL, to which the path of its discovery document is appended
 */
export function createJwks(issuer: string): JWTVerifyGetKey {
  let keys: { find: JWTVerifyGetKey; fetchedMs: number } | undefined
  let running: Promise<JWTVerifyGetKey> | undefined
  let failure: { error: unknown; count: number; untilMs: number } | undefined

  const fetchKeys = async () => {
    try {
      const found = createLocalJWKSet(await fetchJson<JSONWebKeySet>(await discover(issuer)))
      const find: JWTVerifyGetKey = (header, token) => found(header, token)
      keys = { find, fetchedMs: performance.now() }
      failure = undefined
      return find
    } catch (error) {
      const count = (failure?.count ?? 0) + 1
      const pauseMs = count === 1 ? 0 : Math.min(1_000 * 2 ** (count - 2), MAX_PAUSE_MS)
      failure = { error, count, untilMs: performance.now() + pauseMs }
      throw error
    }
  }
  const renewed = (): Promise<JWTVerifyGetKey> => {
    if (failure !== undefined && performance.now() < failure.untilMs) throw failure.error
    running ??= fetchKeys().finally(() => {
      running = undefined
    })
    return running
  }
  const isYoungerThan = (ms: number) => keys !== undefined && performance.now() - keys.fetchedMs < ms

  return async (header, token) => {
    const find = keys !== undefined && isYoungerThan(MAX_AGE_MS) ? keys.find : await renewed()
    try {
      return await find(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || isYoungerThan(COOLDOWN_MS)) throw error
      return (await renewed())(header, token)
    }
  }
}

/** The URL of the provider's keys, from its discovery document. */
async function discover(issuer: string): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const { issuer: stated, jwks_uri } = await fetchJson<{ issuer?: string; jwks_uri: string }>(url)
  if (stated !== issuer) throw new Error(`${url} names the issuer ${stated}, but OIDC_ISSUER is ${issuer}`)
  if (!isSecure(jwks_uri))
    throw new Error(`${url} names the jwks_uri ${jwks_uri}, which must be https, or http on loopback`)
  return jwks_uri
}

async function fetchJson<T>(url: string): Promise<T> {
  const response = await fetchFromProvider(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  if (!isSecure(response.url)) throw new Error(`${url} redirects to ${response.url}, which must be https`)
  return (await response.json()) as T
}
