import type { Role } from '@resource/contract'
import { createLocalClient } from '@resource/server/local'
import type { TestServer } from './harness.ts'
import { openDatabase } from './records.ts'

/** The `Authorization` header that each kind of caller sends. */
export type Callers = Record<CallerKind, string | undefined>
export const CALLER_KINDS = ['none', 'wrong', 'revoked', 'expired', 'reader', 'proposer', 'writer', 'admin'] as const
export type CallerKind = (typeof CALLER_KINDS)[number]

/** Creates a key of every kind. From then on anonymous requests are refused. */
export async function createCallers(server: TestServer): Promise<Callers> {
  await using local = await createLocalClient({ databaseUrl: server.databaseUrl })
  const create = async (role: Role) => local.keys.create.mutate({ name: 'test', role })
  const [reader, writer, admin] = [await create('reader'), await create('writer'), await create('admin')]
  const proposer = await create('proposer')
  const [revoked, expired] = [await create('admin'), await create('admin')]
  await local.keys.revoke.mutate({ id: revoked.id })
  await using database = await openDatabase(server)
  await database.write((tx) => tx.apiKeys.write([{ id: expired.id, change: { expires_at: new Date(Date.now() - 1) } }]))
  return {
    none: undefined,
    // Has the right length and alphabet, and the prefix of an existing key.
    wrong: `Bearer ${admin.prefix}${'0'.repeat(32)}`,
    revoked: `Bearer ${revoked.key}`,
    expired: `Bearer ${expired.key}`,
    reader: `Bearer ${reader.key}`,
    proposer: `Bearer ${proposer.key}`,
    writer: `Bearer ${writer.key}`,
    admin: `Bearer ${admin.key}`,
  }
}
