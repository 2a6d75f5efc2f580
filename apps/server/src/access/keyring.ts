import { setTimeout as sleep } from 'node:timers/promises'
import type { Role } from '@resource/contract'
import type { ApiKey, Database } from '@resource/database'
import { ApiError } from '@resource/openapi'
import type { Logger } from 'pino'
import { refuse } from '../http/database-errors.ts'
import { isKey, isSame, prefixOf } from './api-key.ts'
import { type Caller, unauthorized } from './caller.ts'
import { createLookup } from './lookup.ts'

// The maximum delay until a key revoked by another process is refused here.
const CACHE_MS = 1_000
/** The age from which a known key is looked up again for a secret that it does not have. */
const RELOADED_MS = 50
const MAX_CACHED_KEYS = 1_000
// How long a known key is accepted while the database does not answer. Meanwhile nothing shows whether it was revoked.
const GRACE_MS = 60_000
// How long to wait for the database before the last known answer is used.
const MAX_WAIT_MS = 250
const LAST_USED_INTERVAL_MS = 60_000

type Keyring = ReturnType<typeof createKeyring>
/** The questions that authentication asks. */
export type Keys = Pick<Keyring, 'hasKeys' | 'callerOf'>

interface CachedKey {
  row: ApiKey
  caller: Caller
  /** The caller by the secret before the last rotation. */
  former: Caller
  /** By `performance.now()`: a clock that is set back must not keep a revoked key valid. */
  untilMs: number
}

/** Looks up API keys, with a cache of one second. */
export function createKeyring(database: Database, log: Logger) {
  const cached = new Map<string, CachedKey>()
  const find = (prefixes: string[]) => {
    const order = { column: 'id', descending: false } as const
    return database.read.apiKeys.page({ where: { prefix: { in: prefixes } }, order, take: prefixes.length })
  }
  // Anyone can make up keys. However many are sent, they occupy one connection, and known keys do not wait for them.
  const lookUp = { known: createLookup(find, 'prefix'), unknown: createLookup(find, 'prefix') }
  let anyKey = { value: false, untilMs: 0 }
  let loading: Promise<boolean> | undefined
  let lastHasKeys: boolean | undefined
  let changes = 0

  const setHasKeys = () => {
    lastHasKeys = true
    anyKey = { value: true, untilMs: Number.POSITIVE_INFINITY }
  }

  // One row, not a count: on PostgreSQL counts wait for the large reads of other callers.
  const findAny = () => {
    const order = { column: 'id', descending: false } as const
    return database.read.apiKeys.page({ where: {}, order, take: 1 })
  }

  const loadHasKeys = async () => {
    const value = (await findAny().catch(refuse)).length > 0
    // A key may have been created during the query.
    if (!anyKey.value) anyKey = { value, untilMs: performance.now() + CACHE_MS }
    lastHasKeys = anyKey.value
    return anyKey.value
  }

  const loadKey = async (prefix: string): Promise<CachedKey | undefined> => {
    const seen = changes
    const row = await lookUp[cached.has(prefix) ? 'known' : 'unknown'](prefix).catch(refuse)
    // Unknown keys are not cached, because made-up ones would evict the others.
    if (row === undefined) return undefined
    setHasKeys()
    const caller = {
      name: `key ${row.id}`,
      detail: row.name,
      keyName: row.name,
      ...ownerOf(row),
      role: row.role as Role,
    }
    const withHash = (hash: string) => ({ ...caller, key: { id: row.id, hash } })
    const former = withHash(row.former_hash ?? '')
    const known = { row, caller: withHash(row.hash), former, untilMs: performance.now() + CACHE_MS }
    if (cached.size >= MAX_CACHED_KEYS) cached.clear()
    // After a change during the query, the row may be outdated.
    if (seen === changes) cached.set(prefix, known)
    return known
  }

  const admit = (key: string, known: CachedKey | undefined): Caller => {
    const isCurrent = isSame(key, known?.row.hash)
    if (known === undefined || !(isCurrent || isSame(key, known.row.former_hash ?? undefined))) throw unknownKey()
    const { row, caller } = known
    if (row.revoked_at !== null) throw unauthorized('This API key was revoked', 'revoked_key')
    if (hasExpired(row)) throw unauthorized('This API key has expired', 'expired_key')
    if (!isCurrent && Date.now() >= (row.former_until?.getTime() ?? 0)) {
      throw unauthorized('This API key was rotated: use its new secret', 'revoked_key')
    }
    recordUse(row)
    return isCurrent ? caller : known.former
  }

  const recordUse = (row: ApiKey) => {
    if (row.last_used_at !== null && Math.abs(Date.now() - row.last_used_at.getTime()) < LAST_USED_INTERVAL_MS) return
    const now = new Date()
    row.last_used_at = now
    database
      .write((tx) => tx.apiKeys.write([{ id: row.id, change: { last_used_at: now } }]))
      .catch((err: unknown) => log.warn({ err, key: row.id }, 'could not update last_used_at of a key'))
  }

  /** Whether any key was ever created: from then on every request needs credentials. */
  const hasKeys = () => {
    if (anyKey.value || anyKey.untilMs > performance.now()) return anyKey.value
    // Of many requests at once, each would send a query.
    loading ??= loadHasKeys().finally(() => {
      loading = undefined
    })
    return loading
  }

  /**
   * @throws ApiError 401 if the key is unknown, revoked or expired; 503 if the database is unavailable and the key was not
   * looked up during the last `graceMs`
   */
  const callerOf = (key: string, graceMs = GRACE_MS): Caller | Promise<Caller> => {
    if (!isKey(key)) throw unknownKey()
    const prefix = prefixOf(key)
    const known = cached.get(prefix)
    const overdueMs = performance.now() - (known?.untilMs ?? Number.NEGATIVE_INFINITY)
    // Another secret of a known key may be that of a rotation by another process.
    const isStale = known !== undefined && overdueMs > RELOADED_MS - CACHE_MS && !isSame(key, known.row.hash)
    if (known !== undefined && overdueMs < 0 && !isStale) return admit(key, known)
    const answer = loadKey(prefix).then((known) => admit(key, known))
    return overdueMs < graceMs ? inTime(answer, () => admit(key, known)) : answer
  }

  return {
    /** Clears the cache. Call it when this process has created, rotated or revoked a key. */
    invalidate: () => {
      setHasKeys()
      changes++
      cached.clear()
    },
    hasKeys,
    callerOf: (key: string) => callerOf(key),
    recordUse,
    /** Sets what {@link remembering} knows at first. */
    learn: (value: boolean) => {
      lastHasKeys ??= value
    },
    /** The same, with the last known answers while the database does not answer. */
    remembering: {
      hasKeys: () => {
        const answer = hasKeys()
        const last = lastHasKeys
        return answer instanceof Promise && last !== undefined ? inTime(answer, () => last) : answer
      },
      callerOf: (key: string) => callerOf(key, Number.POSITIVE_INFINITY),
    },
  }
}

/** The answer, or that from memory if the database is unavailable or does not answer in time. */
async function inTime<T>(answer: Promise<T>, remembered: () => T): Promise<T> {
  const late = Symbol('late')
  const recalled = answer.catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 503) return late
    throw error
  })
  const timeout = new AbortController()
  const waited = sleep(MAX_WAIT_MS, late, { signal: timeout.signal }).catch(() => late)
  const first = await Promise.race([recalled, waited]).finally(() => timeout.abort())
  return first === late ? remembered() : (first as T)
}

/** Whom the callers with a key act for. */
export function ownerOf({ owner }: ApiKey): Pick<Caller, 'subject'> {
  return owner === null ? {} : { subject: owner }
}

/** Whether a key is no longer valid. */
export function hasEnded(row: ApiKey): boolean {
  return row.revoked_at !== null || hasExpired(row)
}

function hasExpired({ expires_at }: ApiKey): boolean {
  return expires_at !== null && expires_at.getTime() <= Date.now()
}

function unknownKey() {
  return unauthorized('This API key is unknown', 'unknown_key')
}
