import type { Role } from '@resource/contract'
import type { ApiKey, Database } from '@resource/database'
import { ApiError } from '@resource/openapi'
import type { Logger } from 'pino'
import { unavailable } from '../http/unavailable.ts'
import { type Caller, unauthorized } from './caller.ts'
import { isKey, isSame, prefixOf } from './secret.ts'

// The maximum delay until a key revoked by another process is refused here.
const CACHE_MS = 1_000
const MAX_CACHED_KEYS = 1_000
const LAST_USED_INTERVAL_MS = 60_000
// Anyone can make up keys: looking them up must not occupy the database.
const MAX_UNKNOWN_LOOKUPS = 2
const MAX_UNKNOWN_WAITING = 100

export type Keyring = ReturnType<typeof createKeyring>

interface CachedKey {
  row: ApiKey
  caller: Caller
  until: number
}

/** Looks up API keys, with a cache of one second. */
export function createKeyring(database: Database, log: Logger) {
  const cached = new Map<string, CachedKey>()
  const unknownLookups = createLookupQueue()
  let anyKey = { value: false, until: 0 }
  let changes = 0

  const setHasKeys = () => {
    anyKey = { value: true, until: Number.POSITIVE_INFINITY }
  }

  const loadHasKeys = async () => {
    const value = (await database.read.apiKeys.count({}).catch(refuse)) > 0
    // A key may have been created during the query.
    if (!anyKey.value) anyKey = { value, until: Date.now() + CACHE_MS }
    return anyKey.value
  }

  const loadKey = async (prefix: string): Promise<CachedKey | undefined> => {
    const seen = changes
    const look = () => database.read.apiKeys.find({ prefix }).catch(refuse)
    const row = await (cached.has(prefix) ? look() : unknownLookups.run(look))
    // Unknown keys are not cached, because made-up ones would evict the others.
    if (row === undefined) return undefined
    setHasKeys()
    const caller = { name: `key ${row.id}`, detail: row.name, role: row.role as Role }
    const known = { row, caller, until: Date.now() + CACHE_MS }
    if (cached.size >= MAX_CACHED_KEYS) cached.clear()
    // After a change during the query, the row may be outdated.
    if (seen === changes) cached.set(prefix, known)
    return known
  }

  const admit = (key: string, known: CachedKey | undefined): Caller => {
    if (!isSame(key, known?.row.hash) || known === undefined) throw unknownKey()
    const { row, caller } = known
    if (row.revoked_at !== null) throw unauthorized('This API key was revoked', 'revoked_key')
    if (row.expires_at !== null && row.expires_at.getTime() <= Date.now()) {
      throw unauthorized('This API key has expired', 'expired_key')
    }
    recordUse(row)
    return caller
  }

  const recordUse = (row: ApiKey) => {
    if (row.last_used_at !== null && Date.now() - row.last_used_at.getTime() < LAST_USED_INTERVAL_MS) return
    const now = new Date()
    row.last_used_at = now
    database
      .write((tx) => tx.apiKeys.update(row.id, undefined, { last_used_at: now }))
      .catch((err: unknown) => log.warn({ err, key: row.id }, 'could not update last_used_at of a key'))
  }

  return {
    /** Clears the cache. Call it when this process has created or revoked a key. */
    invalidate: () => {
      setHasKeys()
      changes++
      cached.clear()
    },
    /** Whether any key was ever created: from then on every request needs credentials. */
    hasKeys: () => (anyKey.value || anyKey.until > Date.now() ? anyKey.value : loadHasKeys()),
    /** @throws ApiError 401 if the key is unknown, revoked or expired; 503 if the database is unavailable */
    callerOf: (key: string): Caller | Promise<Caller> => {
      if (!isKey(key)) throw unknownKey()
      const prefix = prefixOf(key)
      const known = cached.get(prefix)
      if (known !== undefined && known.until > Date.now()) return admit(key, known)
      return loadKey(prefix).then((known) => admit(key, known))
    },
  }
}

/** Runs lookups with limited concurrency. If the queue is full, the lookup that has waited longest is refused. */
function createLookupQueue() {
  const waiting: { start: () => void; refuse: (error: Error) => void }[] = []
  let running = 0
  const waitForSlot = () =>
    new Promise<void>((start, refuse) => {
      waiting.push({ start, refuse })
      if (waiting.length <= MAX_UNKNOWN_WAITING) return
      const headers = { 'Retry-After': '1' }
      waiting.shift()?.refuse(new ApiError(503, 'Too many lookups of unknown API keys; try again', { headers }))
    })
  return {
    run: async <T>(work: () => Promise<T>): Promise<T> => {
      if (running === MAX_UNKNOWN_LOOKUPS) await waitForSlot()
      else running++
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next === undefined) running--
        else next.start()
      }
    },
  }
}

function unknownKey() {
  return unauthorized('This API key is unknown', 'unknown_key')
}

function refuse(error: unknown): never {
  throw unavailable(error) ?? error
}
