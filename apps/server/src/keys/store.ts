import type { Input, Output } from '@resource/contract'
import type { ApiKey, Tables } from '@resource/database'
import { readPage } from '../store/page.ts'
import { type IfVersion, notFound, updateVersioned } from '../store/versioned.ts'

export type KeyRecord = Output<'keys', 'get'>

const sortable = { id: 'id' } as const

export async function listKeys(db: Tables, page: Input<'keys', 'list'>) {
  const { rows, facts } = await readPage(db.apiKeys, {}, sortable, page)
  return { keys: rows.map(present), ...facts }
}

/** @throws Problem 404 */
export async function findKey(db: Tables, id: number): Promise<KeyRecord> {
  const row = await db.apiKeys.find({ id })
  if (row === undefined) throw notFound('Key')
  return present(row)
}

export async function insertKey(
  tx: Tables,
  key: Pick<ApiKey, 'name' | 'role' | 'prefix' | 'hash' | 'expires_at'>,
): Promise<KeyRecord> {
  return present(await tx.apiKeys.insert({ ...key, created_at: new Date() }))
}

/** Revokes a key; one that is revoked already keeps its time. @throws Problem 404 or 412 */
export async function revokeKey(tx: Tables, id: number, ifVersion: IfVersion): Promise<void> {
  const row = await tx.apiKeys.find({ id })
  await updateVersioned(tx.apiKeys, 'Key', id, ifVersion, { revoked_at: row?.revoked_at ?? new Date() })
}

// Names every field that leaves the store; the hash does not.
function present(row: ApiKey): KeyRecord {
  return {
    id: row.id,
    name: row.name,
    role: row.role as KeyRecord['role'],
    prefix: row.prefix,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    version: row.version,
  }
}
