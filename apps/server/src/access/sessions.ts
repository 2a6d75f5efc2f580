import type { Role } from '@resource/contract'
import type { ApiKey, Database, Session, Where } from '@resource/database'
import type { Logger } from 'pino'
import { refuse } from '../http/database-errors.ts'
import type { Config } from '../process/config.ts'
import type { Caller } from './caller.ts'
import { hasEnded, ownerOf } from './keyring.ts'
import { createLookup } from './lookup.ts'
import { isSecret, secretHash } from './session-secret.ts'
import { SUBJECT_PREFIX } from './subjects.ts'

// The maximum delay until a session that another process has ended is refused here.
const CACHE_MS = 500
const MAX_CACHED = 1_000
const USE_INTERVAL_MS = 60_000
const MINUTE_MS = 60_000

interface Known {
  session: Session
  key: ApiKey | undefined
  /** By `performance.now()`. */
  untilMs: number
}

type Found = Caller | undefined | Promise<Caller | undefined>

/** Identifies the callers of sessions. A secret without a valid session has no caller. */
export interface Sessions {
  /** @throws ApiError 503 if the database does not answer */
  callerOf: (secret: string) => Found
}

/** Looks up sessions of the console, with a cache of half a second. A session is valid as long as the key that logged in. */
export function createSessions(
  database: Database,
  recordKeyUse: (key: ApiKey) => void,
  { SESSION_IDLE_MINUTES, OIDC_ISSUER }: Config,
  log: Logger,
) {
  const cached = new Map<string, Known>()
  const order = { column: 'id', descending: false } as const
  const find = (hashes: string[]) =>
    database.read.sessions.page({ where: { hash: { in: hashes } }, order, take: hashes.length })
  // Anyone can make up secrets. However many are sent, they occupy one connection.
  const lookUp = { known: createLookup(find, 'hash'), unknown: createLookup(find, 'hash') }
  const lookUpKey = createLookup(
    (ids: number[]) => database.read.apiKeys.page({ where: { id: { in: ids } }, order, take: ids.length }),
    'id',
  )
  let changes = 0

  const load = async (hash: string): Promise<Known | undefined> => {
    const seen = changes
    const session = await lookUp[cached.has(hash) ? 'known' : 'unknown'](hash).catch(refuse)
    const key = session?.key_id == null ? undefined : await lookUpKey(session.key_id).catch(refuse)
    if (session === undefined) {
      cached.delete(hash)
      return undefined
    }
    const known = { session, key, untilMs: performance.now() + CACHE_MS }
    if (cached.size >= MAX_CACHED) cached.clear()
    // After a change during the query, the row may be outdated.
    if (seen === changes) cached.set(hash, known)
    return known
  }

  const isValid = ({ session, key }: Known): boolean => {
    const { last_used_at, expires_at, actor_detail } = session
    const now = Date.now()
    if (expires_at.getTime() <= now || last_used_at.getTime() <= now - SESSION_IDLE_MINUTES * MINUTE_MS) return false
    if (session.key_id === null) return actor_detail === OIDC_ISSUER
    return key !== undefined && !hasEnded(key)
  }

  const admit = (known: Known | undefined, isUse: boolean): Caller | undefined => {
    if (known === undefined || !isValid(known)) return undefined
    const { session, key } = known
    if (isUse) {
      recordUse(session)
      if (key !== undefined) recordKeyUse(key)
    }
    const { id, actor, actor_detail, role } = session
    const subject =
      key === undefined ? { subject: actor.slice(SUBJECT_PREFIX.length) } : { keyName: key.name, ...ownerOf(key) }
    return {
      name: actor,
      detail: `${actor_detail} (console)`,
      ...subject,
      role: (key?.role ?? role) as Role,
      sessionId: id,
    }
  }

  const recordUse = (session: Session) => {
    const now = new Date()
    if (Math.abs(now.getTime() - session.last_used_at.getTime()) < USE_INTERVAL_MS) return
    session.last_used_at = now
    database
      .write((tx) => tx.sessions.write([{ id: session.id, change: { last_used_at: now } }]))
      .catch((err: unknown) => log.warn({ err, session: session.id }, 'could not update last_used_at of a session'))
  }

  const callerOf = (secret: string, isUse: boolean): Found => {
    if (!isSecret(secret)) return undefined
    const hash = secretHash(secret)
    const known = cached.get(hash)
    if (known !== undefined && performance.now() < known.untilMs) return admit(known, isUse)
    return load(hash).then((known) => admit(known, isUse))
  }

  return {
    callerOf: (secret: string) => callerOf(secret, true),
    /** For checks that no user causes: they do not count as a use. */
    watching: { callerOf: (secret: string) => callerOf(secret, false) },
    /** Clears the cache. Call it when a session or a key may have ended. */
    invalidate: () => {
      changes++
      cached.clear()
    },
  }
}

/** The sessions that have not reached a limit. */
export function unexpired({ SESSION_IDLE_MINUTES }: Pick<Config, 'SESSION_IDLE_MINUTES'>): Where<Session> {
  const now = Date.now()
  return { expires_at: { gt: new Date(now) }, last_used_at: { gt: new Date(now - SESSION_IDLE_MINUTES * MINUTE_MS) } }
}

/** Deletes sessions that have reached a limit. */
export async function deleteExpiredSessions(database: Database, { SESSION_IDLE_MINUTES }: Config): Promise<void> {
  const now = Date.now()
  await database.write(async ({ sessions }) => {
    await sessions.deleteAll({ expires_at: { lte: new Date(now) } })
    await sessions.deleteAll({ last_used_at: { lte: new Date(now - SESSION_IDLE_MINUTES * MINUTE_MS) } })
  })
}
