import type { Role } from '@resource/contract'
import type { ApiKey, Database } from '@resource/database'
import type { Logger } from 'pino'
import { isKey, isSame, prefixOf } from '../keys/secret.ts'
import { unavailable } from '../store/unavailable.ts'
import { type Caller, unauthorized } from './caller.ts'

// How long another process's revocation may take to be seen.
const FRESH_MS = 1_000
const MOST_REMEMBERED = 1_000
const USE_TOLD_EVERY_MS = 60_000

/** The API keys as the door-keeper knows them. What was looked up within the last second is given at once. */
export interface Keyring {
  /** Whether any key was ever created: from then on nobody comes in without credentials. */
  hasKeys: () => boolean | Promise<boolean>
  /** @throws Problem 401 when it is no key, or one that is revoked or expired; 503 when the database cannot say */
  callerOf: (key: string) => Caller | Promise<Caller>
}

interface Remembered {
  row: ApiKey
  caller: Caller
  until: number
}

export function createKeyring(database: Database, log: Logger): Keyring {
  const remembered = new Map<string, Remembered>()
  let any = { value: false, until: 0 }

  const lookForAny = async () => {
    const value = (await database.read.apiKeys.count({}).catch(refuse)) > 0
    any = { value, until: Date.now() + FRESH_MS }
    return value
  }

  const lookFor = async (prefix: string): Promise<Remembered | undefined> => {
    const row = await database.read.apiKeys.find({ prefix }).catch(refuse)
    // What was made up is not remembered, or it would push out the rest.
    if (row === undefined) return undefined
    any = { value: true, until: Number.POSITIVE_INFINITY }
    const caller = { name: `key ${row.id}`, detail: row.name, role: row.role as Role }
    const known = { row, caller, until: Date.now() + FRESH_MS }
    if (remembered.size >= MOST_REMEMBERED) remembered.clear()
    remembered.set(prefix, known)
    return known
  }

  const admit = (key: string, known: Remembered | undefined): Caller => {
    if (!isSame(key, known?.row.hash) || known === undefined) throw noKey()
    const { row, caller } = known
    if (row.revoked_at !== null) throw unauthorized('This API key was revoked', 'invalid_token')
    if (row.expires_at !== null && row.expires_at.getTime() <= Date.now()) {
      throw unauthorized('This API key has expired', 'invalid_token')
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
    hasKeys: () => (any.value || any.until > Date.now() ? any.value : lookForAny()),
    callerOf: (key) => {
      if (!isKey(key)) throw noKey()
      const prefix = prefixOf(key)
      const known = remembered.get(prefix)
      if (known !== undefined && known.until > Date.now()) return admit(key, known)
      return lookFor(prefix).then((known) => admit(key, known))
    },
  }
}

function noKey() {
  return unauthorized('This is no API key of the service', 'invalid_token')
}

function refuse(error: unknown): never {
  throw unavailable(error) ?? error
}
