import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

interface Answer {
  /** What replaces the right claims of the next ID token. */
  claims?: JWTPayload
  /** Signs it with a key that the issuer does not publish. */
  isForged?: boolean
}

/** An OpenID Connect issuer on loopback whose ID tokens the test controls. Each code is valid once. */
export async function startStubIssuer(clientId: string) {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const { privateKey: otherKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256' }
  const codes = new Map<string, { nonce: string; challenge: string }>()
  const requests: URLSearchParams[] = []
  let next: Answer = {}
  let changed = {}
  const token = async (req: IncomingMessage) => {
    let body = ''
    for await (const chunk of req) body += chunk
    const sent = new URLSearchParams(body)
    requests.push(sent)
    const code = codes.get(sent.get('code') ?? '')
    codes.delete(sent.get('code') ?? '')
    if (code === undefined) return { error: 'invalid_grant' }
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: issuer,
      aud: clientId,
      sub: 'mira',
      role: 'writer',
      iat: now,
      exp: now + 60,
      nonce: code.nonce,
    }
    const id_token = await new SignJWT({ ...claims, ...next.claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .sign(next.isForged ? otherKey : privateKey)
    return { access_token: 'opaque', token_type: 'Bearer', expires_in: 60, id_token }
  }
  const server = createServer(async (req, res) => {
    res.setHeader('Content-Type', 'application/json')
    const answer =
      req.url === '/token'
        ? await token(req)
        : req.url === '/jwks'
          ? { keys: [jwk] }
          : { ...DISCOVERY, ...discovered, ...changed }
    res.statusCode = 'error' in answer ? 400 : 200
    res.end(JSON.stringify(answer))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const discovered = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
  }
  const stop = async () => {
    server.closeAllConnections()
    server.close()
  }
  return {
    issuer,
    /** The token requests so far. */
    requests,
    /** What its next ID tokens are. */
    answer: (answer: Answer) => {
      next = answer
    },
    /** What replaces entries of its discovery document. */
    discover: (entries: object) => {
      changed = entries
    },
    /** Lets the user in: the parameters with which the browser returns from the URL of an attempt. */
    admit: (url: URL) => {
      const code = crypto.randomUUID()
      const param = (name: string) => url.searchParams.get(name) ?? ''
      codes.set(code, { nonce: param('nonce'), challenge: param('code_challenge') })
      return new URLSearchParams({ code, state: param('state'), iss: issuer })
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

const DISCOVERY = {
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['client_secret_basic'],
  authorization_response_iss_parameter_supported: true,
}
