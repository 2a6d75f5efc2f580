import { contract } from '@resource/contract'
import type { Database, Tables } from '@resource/database'
import { ApiError, FieldError } from '@resource/openapi'
import { newKey } from '../access/api-key.ts'
import type { Services } from '../store/context.ts'
import { readPage } from '../store/page.ts'
import { presenter } from '../store/presenter.ts'
import { missingOrStale, notFound, versionsOf } from '../store/refusals.ts'

const SESSIONS_TOGETHER = 1_000

const present = presenter(contract.keys.procedures.get.output)

/**
 * The service of API keys: a key is shown once, stored as a hash, and revoked instead of deleted.
 *
 * @param onChanged called after a key was created, rotated or revoked
 */
export function keyService({ read }: Database, onChanged: () => void): Services['keys'] {
  return {
    list: async (page) => {
      const { rows, facts } = await readPage(read.apiKeys, {}, { id: 'id' }, page)
      return { keys: rows.map(present), ...facts }
    },

    get: async ({ id }) => {
      const row = await read.apiKeys.find({ id })
      if (row === undefined) throw notFound('Key')
      return present(row)
    },

    create: async (input, { write }) => {
      const { name, role, owner } = input
      const expires_at = input.expires_at === null ? null : new Date(input.expires_at)
      if (expires_at !== null && expires_at.getTime() <= Date.now()) {
        throw new FieldError(400, [{ path: ['expires_at'], message: 'must be in the future' }])
      }
      let secret: string | undefined
      // The response stored for retries must not contain the key.
      const work = async (tx: Tables) => {
        const { key, prefix, hash } = newKey()
        secret = key
        const create = { name, role, owner, prefix, hash, expires_at, created_at: new Date() }
        const [{ after }] = await tx.apiKeys.write([{ create }])
        return present(after)
      }
      const record = await write(work, { autocommit: true })
      onChanged()
      if (secret !== undefined) return { ...record, key: secret }
      throw shownBefore(`created key ${record.id}`, 'revoke it and create another')
    },

    rotate: async ({ id, grace, if_version }, { write }) => {
      let secret: string | undefined
      const work = async (tx: Tables) => {
        await tx.apiKeys.lock({ id }, 1)
        const row = await tx.apiKeys.find({ id })
        const { key, hash } = newKey(row?.prefix)
        secret = key
        const now = Date.now()
        const former = { former_hash: row?.hash ?? null, former_until: new Date(now + grace * 1000) }
        const change = { hash, rotated_at: new Date(now), ...former }
        const [written] = await tx.apiKeys.write([{ id, versions: versionsOf(if_version), change }])
        if (written === undefined) throw await missingOrStale(tx.apiKeys, 'Key', id, if_version)
        const { revoked_at, expires_at } = written.after
        const hasExpired = expires_at !== null && expires_at.getTime() <= now
        if (revoked_at !== null || hasExpired) {
          throw new ApiError(409, `Key ${id} ${hasExpired ? 'has expired' : 'was revoked'}: create another`)
        }
        await endSessions(tx, id, former.former_until)
        return present(written.after)
      }
      const record = await write(work)
      onChanged()
      if (secret !== undefined) return { ...record, key: secret }
      throw shownBefore(`rotated key ${id}`, 'rotate it again')
    },

    revoke: async ({ id, if_version }, { write }) => {
      const work = async (tx: Tables) => {
        await tx.apiKeys.lock({ id }, 1)
        const row = await tx.apiKeys.find({ id })
        // A key that is already revoked keeps its `revoked_at`.
        const change = { revoked_at: row?.revoked_at ?? new Date() }
        const [written] = await tx.apiKeys.write([{ id, versions: versionsOf(if_version), change }])
        if (written === undefined) throw await missingOrStale(tx.apiKeys, 'Key', id, if_version)
        await endSessions(tx, id, new Date())
        return { message: 'Key revoked' }
      }
      const result = await write(work)
      onChanged()
      return result
    },
  }
}

/** The error of a retry, whose stored response has no key. */
function shownBefore(done: string, remedy: string): ApiError {
  return new ApiError(409, `This request already ${done}, and a key is shown only once: ${remedy}`)
}

/** Ends the sessions that a key has started, at the given time at the latest. */
async function endSessions({ sessions }: Tables, key_id: number, until: Date): Promise<void> {
  const order = { column: 'id', descending: false } as const
  const where = { key_id, expires_at: { gt: until } }
  const isNow = until.getTime() <= Date.now()
  for (;;) {
    const rows = await sessions.page({ columns: ['id'], where, order, take: SESSIONS_TOGETHER })
    const change = { expires_at: until }
    await sessions.write(rows.map(({ id }) => (isNow ? { id, delete: true as const } : { id, change })))
    if (rows.length < SESSIONS_TOGETHER) return
  }
}
