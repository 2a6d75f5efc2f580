import type { Role } from '@resource/contract'
import type { ApiKey, Database } from '@resource/database'
import { ApiError } from '@resource/openapi'
import type { Logger } from 'pino'
import { unavailable } from '../http/unavailable.ts'
import { type Caller, unauthorized } from './caller.ts'
import { isKey, isSame, prefixOf } from './secret.ts'

// How long another process's revocation may take to be seen.
const FRESH_MS = 1_000
const MOST_REMEMBERED = 1_000
const USE_TOLD_EVERY_MS = 60_000
// Anyone can make up keys: to look for these must leave the database to others.
const MOST_UNKNOWN_AT_ONCE = 2
const MOST_UNKNOWN_WAITING = 100

export type Keyring = ReturnType<typeof createKeyring>

interface Remembered {
  row: ApiKey
  caller: Caller
  until: number
}

/** The API keys. What was looked up within the last second is given at once. */
export function createKeyring(database: Database, log: Logger) {
  const remembered = new Map<string, Remembered>()
  const unknown = createTurns()
  let any = { value: false, until: 0 }
  let changes = 0

  const noteKey = () => {
    any = { value: true, until: Number.POSITIVE_INFINITY }
  }

  const lookForAny = async () => {
    const value = (await database.read.apiKeys.count({}).catch(refuse)) > 0
    // One may have been created meanwhile.
    if (!any.value) any = { value, until: Date.now() + FRESH_MS }
    return any.value
  }

  const lookFor = async (prefix: string): Promise<Remembered | undefined> => {
    const seen = changes
    const look = () => database.read.apiKeys.find({ prefix }).catch(refuse)
    const row = await (remembered.has(prefix) ? look() : unknown.run(look))
    // What was made up is not remembered, or it would push out the rest.
    if (row === undefined) return undefined
    noteKey()
    const caller = { name: `key ${row.id}`, detail: row.name, role: row.role as Role }
    const known = { row, caller, until: Date.now() + FRESH_MS }
    if (remembered.size >= MOST_REMEMBERED) remembered.clear()
    // Else it could be what stood there before a change.
    if (seen === changes) remembered.set(prefix, known)
    return known
  }

  const admit = (key: string, known: Remembered | undefined): Caller => {
    if (!isSame(key, known?.row.hash) || known === undefined) throw noKey()
    const { row, caller } = known
    if (row.revoked_at !== null) throw unauthorized('This API key was revoked', 'revoked_key')
    if (row.expires_at !== null && row.expires_at.getTime() <= Date.now()) {
      throw unauthorized('This API key has expired', 'expired_key')
    }
    tellUse(row)
    return caller
  }

  const tellUse = (row: ApiKey) => {
    if (row.last_used_at !== null && Date.now() - row.last_used_at.getTime() < USE_TOLD_EVERY_MS) return
    const now = new Date()
    row.last_used_at = now
    database
      .write((tx) => tx.apiKeys.update(row.id, undefined, { last_used_at: now }))
      .catch((err: unknown) => log.warn({ err, key: row.id }, 'the use of a key was not noted'))
  }

  return {
    /** Notes at once that a key was created or revoked by this process. */
    noteChange: () => {
      noteKey()
      changes++
      remembered.clear()
    },
    /** Whether any key was ever created: from then on nobody comes in without credentials. */
    hasKeys: () => (any.value || any.until > Date.now() ? any.value : lookForAny()),
    /** @throws ApiError 401 when it is no key, or one that is revoked or expired; 503 when the database cannot say */
    callerOf: (key: string): Caller | Promise<Caller> => {
      if (!isKey(key)) throw noKey()
      const prefix = prefixOf(key)
      const known = remembered.get(prefix)
      if (known !== undefined && known.until > Date.now()) return admit(key, known)
      return lookFor(prefix).then((known) => admit(key, known))
    },
  }
}

/** Runs a few at once; beyond the most that wait, the one that has waited longest is refused. */
function createTurns() {
  const waiting: { start: () => void; refuse: (error: Error) => void }[] = []
  let running = 0
  const turn = () =>
    new Promise<void>((start, refuse) => {
      waiting.push({ start, refuse })
      if (waiting.length <= MOST_UNKNOWN_WAITING) return
      const headers = { 'Retry-After': '1' }
      waiting.shift()?.refuse(new ApiError(503, 'Too many unknown API keys are looked up; try again', { headers }))
    })
  return {
    run: async <T>(work: () => Promise<T>): Promise<T> => {
      if (running === MOST_UNKNOWN_AT_ONCE) await turn()
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

function noKey() {
  return unauthorized('This is no API key of the service', 'unknown_key')
}

function refuse(error: unknown): never {
  throw unavailable(error) ?? error
}
