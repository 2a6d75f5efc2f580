import type { Database } from '@resource/database'
import { firstIdSince } from './entry-times.ts'

const DAY_MS = 24 * 60 * 60 * 1000
// On SQLite this blocks other requests for a few milliseconds.
const BATCH_SIZE = 500

/**
 * Deletes audit entries and proposals older than `days`, in small batches so that other writes can run in between. Keeps the newest of
 * them: without later entries, its id would be assigned again.
 */
export async function deleteOldEntries(database: Database, days: number): Promise<void> {
  const time = new Date(Date.now() - days * DAY_MS)
  const newest = (await firstIdSince(database.read, time.getTime())) - 1
  const where = { id: { lt: newest }, at: { lt: time } }
  let deleted: number
  do {
    deleted = await database.write((tx) => tx.auditEntries.deleteAll(where, BATCH_SIZE))
  } while (deleted === BATCH_SIZE)
  // All of them are closed, at the latest by their expiry.
  await database.write((tx) => tx.proposals.deleteAll({ expires_at: { lt: time } }))
}
