import type { IncomingMessage } from 'node:http'
import type { Database } from '@resource/database'
import type { Logger } from 'pino'
import { isLoopback } from '../http/host.ts'
import type { Config } from '../process/config.ts'
import { isFirstProcess } from '../process/workers.ts'
import { createAuthenticate, proxySign } from './authenticate.ts'
import { createKeyring } from './keyring.ts'
import { createTokens } from './tokens.ts'

/** Who may come in. */
export type Access = Awaited<ReturnType<typeof createAccess>>

/**
 * The rules of access, from the settings and the keys in the database (decisions, "Access").
 *
 * @throws Error when the service would be open to others than this machine without anyone having said so
 */
export async function createAccess(database: Database, config: Config, log: Logger) {
  const { HOST, TRUST_PROXY, ALLOW_ANONYMOUS, OIDC_ISSUER } = config
  const keyring = createKeyring(database, log)
  const verifyToken = OIDC_ISSUER === undefined ? undefined : createTokens(OIDC_ISSUER, config)
  // Not the keyring's own answer, which would hide for a second a key that is created now.
  if (verifyToken === undefined && (await database.read.apiKeys.count({})) === 0) announceOpen(config, log)

  const proxyOf = (req: IncomingMessage) => {
    if (TRUST_PROXY.length > 0) return 'TRUST_PROXY is set'
    return isLoopback(HOST) ? proxySign(req) : 'its address'
  }
  const whenOpen = (isMet: (req: IncomingMessage) => boolean) => (req: IncomingMessage) => {
    if (verifyToken !== undefined) return false
    const hasKeys = keyring.hasKeys()
    return hasKeys instanceof Promise ? hasKeys.then((hasKeys) => !hasKeys && isMet(req)) : !hasKeys && isMet(req)
  }
  return {
    callerOf: createAuthenticate(keyring, ALLOW_ANONYMOUS ? () => undefined : proxyOf, verifyToken),
    /** Notes at once that a key was created or revoked by this process. */
    noteChange: keyring.noteChange,
    /** Whether there are keys, or an identity provider. */
    needsCredentials: () => verifyToken !== undefined || keyring.hasKeys(),
    /** Whether a request needs no credentials. */
    isOpen: whenOpen((req) => ALLOW_ANONYMOUS || proxyOf(req) === undefined),
    /** Whether a request needs no credentials because it comes from this machine, directly. */
    isPrivate: whenOpen((req) => proxyOf(req) === undefined),
  }
}

/** @throws Error when nobody has allowed the service to be as open as it would be */
function announceOpen({ HOST, DATABASE_URL, ALLOW_ANONYMOUS, TRUST_PROXY }: Config, log: Logger): void {
  // Any other URL may hold a password.
  const database = DATABASE_URL.startsWith('file:') ? DATABASE_URL : '"$DATABASE_URL"'
  const create = `npm run -s resource -- keys create --name operator --role admin --database ${database}`
  if (!ALLOW_ANONYMOUS && !isLoopback(HOST)) {
    throw new Error(`There is no API key yet, and HOST=${HOST} can be reached from other machines. Create a key first:
  ${create}
or set OIDC_ISSUER. HOST=127.0.0.1 needs neither. ALLOW_ANONYMOUS=true lets everyone do everything.`)
  }
  if (!isFirstProcess()) return
  if (ALLOW_ANONYMOUS) {
    log.warn({ host: HOST }, 'ALLOW_ANONYMOUS: whoever reaches this address may read, write and remove everything')
  } else if (TRUST_PROXY.length > 0) {
    log.warn({ create }, 'no API key exists, and TRUST_PROXY is set: every request is refused until a key is created')
  } else {
    log.warn({ create }, 'no API key exists: anyone who can reach this port can read, write and delete everything')
  }
}
