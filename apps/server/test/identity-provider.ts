import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import { type JWK, Provider } from 'oidc-provider'

const CLIENT = { client_id: 'console', client_secret: 'secret-of-the-client' }

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

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let tokenRequest: TokenRequest = {}
  let fetched = 0
  let handle = await provide(issuer, () => tokenRequest)
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
      handle = await provide(issuer, () => tokenRequest)
    },
    stop: () => close(server),
    start: async () => {
      await once(server.listen(Number(new URL(issuer).port), '127.0.0.1'), 'listening')
    },
    [Symbol.asyncDispose]: () => close(server),
  }
}

async function provide(issuer: string, tokenRequest: () => TokenRequest) {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }],
    jwks: { keys: [(await exportJWK(privateKey)) as JWK] },
    features: {
      devInteractions: { enabled: false },
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
  return provider.callback()
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}
