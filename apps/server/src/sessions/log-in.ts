import type { Database, Tables } from '@resource/database'
import { type Caller, unauthorized } from '../access/caller.ts'
import { hasEnded } from '../access/keyring.ts'
import { newSecret } from '../access/session-secret.ts'
import { refuse } from '../http/database-errors.ts'
import type { Config } from '../process/config.ts'
import { auditContext } from '../store/audit-context.ts'
import type { AuditedTables } from '../store/audited-tables.ts'
import { browserName } from './browser-name.ts'

const HOUR_MS = 60 * 60 * 1000

/** A login or a logout, as the audit log records it. */
interface SessionChange {
  caller: Caller
  requestId: string
  address: string
}

/** Starts and ends sessions of the console. @throws ApiError 503 if the database cannot be written */
export function sessionWrites(database: Database, { SESSION_HOURS }: Config, audited: AuditedTables) {
  const auditOf = (procedure: string, { caller, requestId, address }: SessionChange) =>
    auditContext(procedure, { caller, requestId, address: () => address, read: database.read }, audited, undefined)
  return {
    /**
     * Starts a session that ends with the credentials of the caller.
     *
     * @param replaced the id of the session that it replaces
     * @returns the secret
     */
    start: async (change: SessionChange, userAgent: string | undefined, replaced?: number): Promise<string> => {
      const { caller, address } = change
      const { secret, hash } = newSecret()
      const start = async (tx: Tables) => {
        const now = Date.now()
        const ends = [now + SESSION_HOURS * HOUR_MS, await endOfKey(tx, caller), caller.validMs]
        const create = {
          hash,
          key_id: caller.key?.id ?? null,
          actor: caller.name,
          actor_detail: caller.detail ?? '',
          role: caller.role,
          address,
          browser: browserName(userAgent),
          created_at: new Date(now),
          last_used_at: new Date(now),
          expires_at: new Date(Math.min(...ends.filter((end) => end !== undefined))),
        }
        if (replaced !== undefined) await tx.sessions.write([{ id: replaced, delete: true }])
        await tx.sessions.write([{ create }])
      }
      const audit = auditOf('sessions.create', change)
      await database.write(start, { audit, caller: caller.name }).catch(refuse)
      return secret
    },

    /** Ends the session of the caller. */
    end: async (change: SessionChange): Promise<void> => {
      const { sessionId: id, name } = change.caller
      if (id === undefined) return
      const audit = auditOf('sessions.end', change)
      await database.write((tx) => tx.sessions.write([{ id, delete: true }]), { audit, caller: name }).catch(refuse)
    },
  }
}

/**
 * When the secret of a key that the caller has sent ends at the latest, in ms. Locks the key, so that a rotation comes before or
 * after the session.
 *
 * @throws ApiError 401 if it has been rotated or revoked since
 */
async function endOfKey({ apiKeys }: Tables, { key }: Caller): Promise<number | undefined> {
  if (key === undefined) return undefined
  const { id, hash } = key
  await apiKeys.lock({ id }, 1)
  const row = await apiKeys.find({ id })
  const isFormer = row?.hash !== hash
  if (row === undefined || hasEnded(row) || (isFormer && row.former_hash !== hash))
    throw unauthorized('This API key was revoked or rotated meanwhile', 'revoked_key')
  const ends = [row.expires_at, isFormer ? row.former_until : null].flatMap((end) => end?.getTime() ?? [])
  return ends.length === 0 ? undefined : Math.min(...ends)
}
