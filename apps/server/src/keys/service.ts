import type { Database, Tables } from '@resource/database'
import { FieldError, Problem } from '@resource/openapi'
import { newKey } from '../access/secret.ts'
import type { Services } from '../store/context.ts'
import { findKey, insertKey, listKeys, revokeKey } from './store.ts'

/**
 * The rules of keys: shown once, stored as hashes, revoked rather than deleted.
 *
 * @param onCreated called when a key was created: from then on nobody gets in without one
 */
export function keyService(database: Database, onCreated: () => void): Services['keys'] {
  return {
    list: (input) => listKeys(database.read, input),

    get: ({ id }) => findKey(database.read, id),

    create: async (input, { write }) => {
      const { name, role } = input
      const expires_at = input.expires_at === null ? null : new Date(input.expires_at)
      if (expires_at !== null && expires_at.getTime() <= Date.now()) {
        throw new FieldError(400, [{ path: ['expires_at'], message: 'must be in the future' }])
      }
      let created: string | undefined
      // What is kept for repeats must not hold the key.
      const work = (tx: Tables) => {
        const { key, prefix, hash } = newKey()
        created = key
        return insertKey(tx, { name, role, prefix, hash, expires_at })
      }
      const record = await write(work)
      onCreated()
      if (created !== undefined) return { ...record, key: created }
      throw new Problem(
        409,
        `Key ${record.id} was created by this request already, and a key is shown once: revoke it and create another`,
      )
    },

    revoke: (input, { write }) => {
      const work = async (tx: Tables) => {
        await revokeKey(tx, input.id, input.if_version)
        return { message: 'Key revoked' }
      }
      return write(work)
    },
  }
}
