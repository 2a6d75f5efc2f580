import type { IncomingMessage } from 'node:http'
import type { Database } from '@resource/database'
import type { Logger } from 'pino'
import { isLoopback } from '../http/loopback.ts'
import type { Config } from '../process/config.ts'
import { greets } from '../process/log-text.ts'
import { isFirstProcess } from '../process/workers.ts'
import { createAuthenticate } from './authenticate.ts'
import { createKeyring } from './keyring.ts'
import { proxySign } from './proxy-sign.ts'
import { createSessions } from './sessions.ts'

/** Access control. */
export type Access = Awaited<ReturnType<typeof createAccess>>

/**
 * Creates access control from the settings and the keys in the database (API rules C50 and C51).
 *
 * @throws Error if the service would be open to other machines and no setting allows it
 */
export async function createAccess(database: Database, config: Config, log: Logger) {
  const { HOST, TRUST_PROXY, ALLOW_ANONYMOUS, OIDC_ISSUER } = config
  const keyring = createKeyring(database, log)
  const sessions = createSessions(database, keyring.recordUse, config, log)
  // Loaded on demand, because jose has 46 modules.
  const verifyToken =
    OIDC_ISSUER === undefined ? undefined : (await import('./tokens.ts')).createTokens(OIDC_ISSUER, config)
  // Not `keyring.hasKeys`, which would cache the result: a key created now would stay unseen for a second.
  const hasKeysAtStart = (await database.read.apiKeys.count({})) > 0
  keyring.learn(hasKeysAtStart)
  if (verifyToken === undefined && !hasKeysAtStart) announceOpen(config, log)

  const proxyOf = (req: IncomingMessage) => {
    if (TRUST_PROXY.length > 0) return 'TRUST_PROXY is set'
    return isLoopback(HOST) ? proxySign(req) : 'its address'
  }
  const whenOpen = (isMet: (req: IncomingMessage) => boolean) => (req: IncomingMessage) => {
    if (verifyToken !== undefined) return false
    const hasKeys = keyring.remembering.hasKeys()
    return hasKeys instanceof Promise ? hasKeys.then((hasKeys) => !hasKeys && isMet(req)) : !hasKeys && isMet(req)
  }
  const signOf = ALLOW_ANONYMOUS ? () => undefined : proxyOf
  return {
    callerOf: createAuthenticate(keyring, sessions, signOf, verifyToken),
    /** The same, but it does not count as a use of the session. */
    recheck: createAuthenticate(keyring, sessions.watching, signOf, verifyToken),
    /** Call it when a key was created, rotated or revoked, or a session has ended. */
    invalidate: () => {
      keyring.invalidate()
      sessions.invalidate()
    },
    /** Whether the service was open when it started. */
    wasOpen: verifyToken === undefined && !hasKeysAtStart,
    /** Whether keys exist, or an identity provider is configured. */
    needsCredentials: () => verifyToken !== undefined || keyring.hasKeys(),
    /** Whether a request needs no credentials, by the last known keys while the database does not answer. */
    isOpen: whenOpen((req) => ALLOW_ANONYMOUS || proxyOf(req) === undefined),
    /** For monitoring: uses the last known keys while the database does not answer. */
    monitorOf: createAuthenticate(keyring.remembering, sessions, signOf, verifyToken),
    /** The same, because the request comes directly from this machine. */
    isPrivate: whenOpen((req) => proxyOf(req) === undefined),
  }
}

/** @throws Error if the service would be open to other machines and ALLOW_ANONYMOUS is not set */
function announceOpen({ HOST, DATABASE_URL, ALLOW_ANONYMOUS, TRUST_PROXY }: Config, log: Logger): void {
  // Any other URL may hold a password.
  const database = DATABASE_URL.startsWith('file:') ? DATABASE_URL : '"$DATABASE_URL"'
  const create = `npm run -s resource -- keys create --name operator --role admin --database ${database}`
  if (!ALLOW_ANONYMOUS && !isLoopback(HOST)) {
    throw new Error(`There is no API key yet, and HOST=${HOST} can be reached from other machines. Create a key first:
  ${create}
or set OIDC_ISSUER. HOST=127.0.0.1 needs neither. ALLOW_ANONYMOUS=true gives everyone full access.`)
  }
  if (!isFirstProcess()) return
  if (ALLOW_ANONYMOUS) {
    log.warn(
      { host: HOST },
      'ALLOW_ANONYMOUS is set: anyone who can reach this address can read, write and delete everything',
    )
  } else if (TRUST_PROXY.length > 0) {
    log.warn({ create }, 'no API key exists, and TRUST_PROXY is set: every request is refused until a key is created')
  } else if (!greets(log)) {
    // On a terminal, main.ts says what to do.
    log.warn({ create }, 'no API key exists: anyone who can reach this port can read, write and delete everything')
  }
}
