import type { Database } from '@resource/database'
import { firstSince } from './times.ts'

const DAY_MS = 24 * 60 * 60 * 1000
// On SQLite a few milliseconds, in which nobody else is served.
const REMOVED_AT_ONCE = 500

/**
 * Drops the entries older than so many days, in small writes that let others in between. The newest of them stays, lest
 * its id be given again where nothing was written since.
 */
export async function dropOldEntries(database: Database, days: number): Promise<void> {
  const time = new Date(Date.now() - days * DAY_MS)
  const newest = (await firstSince(database.read, time.getTime())) - 1
  const where = { id: { lt: newest }, at: { lt: time } }
  let dropped: number
  do {
    dropped = (await database.write((tx) => tx.auditEntries.deleteSome(where, REMOVED_AT_ONCE))).length
  } while (dropped === REMOVED_AT_ONCE)
}
