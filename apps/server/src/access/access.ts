import type { Database } from '@resource/database'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { isLoopback } from '../http/host.ts'
import { type Authenticate, createAuthenticate } from './authenticate.ts'
import { createKeyring } from './keyring.ts'
import { createTokens } from './tokens.ts'

/** Who may come in. */
export interface Access {
  callerOf: Authenticate
  /** Whether the service is for whoever sits at this machine, without credentials. */
  isPrivate: () => boolean | Promise<boolean>
}

/**
 * The rules of access, from the settings and the keys in the database (decisions, "Access").
 *
 * @throws Error when the service would be open to others than this machine without anyone having said so
 */
export async function createAccess(database: Database, config: Config, log: Logger): Promise<Access> {
  const { HOST, DATABASE_URL, ALLOW_ANONYMOUS, OIDC_ISSUER, OIDC_AUDIENCE = '', OIDC_ROLE_CLAIM } = config
  const keyring = createKeyring(database, log)
  const verifyToken =
    OIDC_ISSUER === undefined
      ? undefined
      : createTokens({ issuer: OIDC_ISSUER, audience: OIDC_AUDIENCE, roleClaim: OIDC_ROLE_CLAIM })
  if (!isLoopback(HOST) && verifyToken === undefined && !(await keyring.hasKeys())) {
    if (!ALLOW_ANONYMOUS) throw new Error(wouldBeOpen(HOST, DATABASE_URL))
    log.warn({ host: HOST }, 'ALLOW_ANONYMOUS: whoever reaches this address may read, write and remove everything')
  }
  return {
    callerOf: createAuthenticate(keyring, verifyToken),
    isPrivate: () => {
      if (verifyToken !== undefined || !isLoopback(HOST)) return false
      const hasKeys = keyring.hasKeys()
      return hasKeys instanceof Promise ? hasKeys.then((hasKeys) => !hasKeys) : !hasKeys
    },
  }
}

function wouldBeOpen(host: string, databaseUrl: string): string {
  // Any other URL may hold a password.
  const database = databaseUrl.startsWith('file:') ? databaseUrl : '"$DATABASE_URL"'
  return `There is no API key yet, and HOST=${host} can be reached from other machines. Create a key first:
  npm run -s resource -- keys create --name operator --role admin --database ${database}
or set OIDC_ISSUER. HOST=127.0.0.1 needs neither. ALLOW_ANONYMOUS=true lets everyone do everything.`
}
