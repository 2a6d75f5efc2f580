import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import { type JWK, Provider } from 'oidc-provider'

const CLIENT = { client_id: 'console', client_secret: 'secret-of-the-client' }

/** The settings of a service at which users of the provider sign in. */
export const SIGN_IN = { OIDC_AUDIENCE: 'resource', OIDC_CLIENT_ID: 'people', OIDC_CLIENT_SECRET: 'secret-of-people' }

interface TokenRequest {
  /** The claim `role` of the token; absent: no such claim. */
  role?: unknown
  audience?: string
  /** Seconds. */
  lifetime?: number
}

/** A real OpenID Connect provider on loopback; `await using` stops it. */
export interface IdentityProvider extends AsyncDisposable {
  issuer: string
  /** The number of requests for its signing keys. */
  keysFetched: () => number
  /** An access token, signed by the provider (client credentials grant). */
  token: (request: TokenRequest) => Promise<string>
  /** Replaces the signing key; the previous one becomes invalid. */
  rotate: () => Promise<void>
  stop: () => Promise<void>
  /** Starts it again on the same address. */
  start: () => Promise<void>
}

/** @param forPeople whether people sign in with it: any name and password are right, and the name is the role */
export async function startIdentityProvider(forPeople = false): Promise<IdentityProvider> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let tokenRequest: TokenRequest = {}
  let fetched = 0
  let handle = await provide(issuer, forPeople, () => tokenRequest)
  server.on('request', (req, res) => {
    if (req.url === '/jwks') fetched++
    handle(req, res)
  })
  return {
    issuer,
    keysFetched: () => fetched,
    token: async (request) => {
      tokenRequest = request
      const answer = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { Authorization: `Basic ${btoa(`${CLIENT.client_id}:${CLIENT.client_secret}`)}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource: 'urn:resource-service' }),
      })
      const { access_token } = (await answer.json()) as { access_token: string }
      return access_token
    },
    rotate: async () => {
      handle = await provide(issuer, forPeople, () => tokenRequest)
    },
    stop: () => close(server),
    start: async () => {
      await once(server.listen(Number(new URL(issuer).port), '127.0.0.1'), 'listening')
    },
    [Symbol.asyncDispose]: () => close(server),
  }
}

async function provide(issuer: string, forPeople: boolean, tokenRequest: () => TokenRequest) {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const { OIDC_CLIENT_ID: client_id, OIDC_CLIENT_SECRET: client_secret } = SIGN_IN
  const people = { client_id, client_secret, redirect_uris: [`${issuer}/unused`] }
  const provider = new Provider(issuer, {
    clients: [
      { ...CLIENT, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] },
      ...(forPeople ? [people] : []),
    ],
    claims: { openid: ['sub', 'role'] },
    conformIdTokenClaims: false,
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId, role: accountId }) }),
    jwks: { keys: [(await exportJWK(privateKey)) as JWK] },
    features: {
      devInteractions: { enabled: forPeople },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => {
          const { audience = 'resource', lifetime = 60 } = tokenRequest()
          return { scope: '', audience, accessTokenTTL: lifetime, accessTokenFormat: 'jwt' }
        },
      },
    },
    extraTokenClaims: () => (tokenRequest().role === undefined ? undefined : { role: tokenRequest().role }),
  })
  // The service starts after the provider, with a port that is not known yet.
  Object.assign(provider.Client.prototype, { redirectUriAllowed: () => true })
  return provider.callback()
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}
