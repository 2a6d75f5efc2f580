import { closeSync, existsSync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { messageOf } from '../migration-history.ts'
import { createFile, prepareFolder } from './file.ts'
import { retryWhileLocked } from './lock.ts'

/** How long a start waits while another process migrates. */
export const MAX_LOCK_WAIT_MS = 30_000

const CHUNK_BYTES = 1024 * 1024

/**
 * Opens a file in WAL mode, and creates it and its folder if missing. Commits that earlier processes left in its log are then on
 * disk.
 *
 * @throws Error with a remedy when the file cannot be used or the disk is full
 */
export async function openSynced(file: string): Promise<Sqlite.Database> {
  const database = await openInWalMode(file)
  try {
    await syncWal(database)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Opens the file anew in each attempt: during a wait for its lock another program may replace it. */
async function openInWalMode(file: string): Promise<Sqlite.Database> {
  return await retryWhileLocked(MAX_LOCK_WAIT_MS, isBusyOrMoved, () => {
    const database = open(file)
    try {
      database.pragma('journal_mode = WAL')
      return database
    } catch (error) {
      database.close()
      throw error
    }
  }).catch((error) => {
    throw error instanceof Sqlite.SqliteError ? unusable(file, 'used', error) : error
  })
}

function open(file: string): Sqlite.Database {
  try {
    prepareFolder(file)
    createFile(file)
    return new Sqlite(file, { timeout: 0 })
  } catch (error) {
    throw unusable(file, 'opened', error)
  }
}

async function syncWal(database: Sqlite.Database): Promise<void> {
  try {
    await retryWhileLocked(MAX_LOCK_WAIT_MS, isBusy, () => database.exec('BEGIN IMMEDIATE'))
    try {
      rewriteAndSync(`${database.name}-wal`)
    } finally {
      database.exec('ROLLBACK')
    }
    // While another process reads, this is partial and reports no error. The rest of the log is on disk by now.
    database.pragma('wal_checkpoint(TRUNCATE)')
  } catch (error) {
    // If the disk has no space for the file, the content stays in the log.
    if (error instanceof Sqlite.SqliteError && error.code === 'SQLITE_FULL') return
    throw new Error(
      `The write-ahead log of the database ${database.name} cannot be synced to disk: ${messageOf(error)}. Check the disk, then start again.`,
      { cause: error },
    )
  }
}

/**
 * Rewrites a file with its own content and syncs it. After a failed fdatasync Linux marks pages as clean that are not on disk.
 * A later fdatasync, even of a new process, neither writes them nor fails.
 */
function rewriteAndSync(file: string): void {
  if (!existsSync(file)) return
  const descriptor = openSync(file, 'r+')
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES)
    for (let position = 0; ; ) {
      const length = readSync(descriptor, chunk, 0, CHUNK_BYTES, position)
      if (length === 0) break
      writeSync(descriptor, chunk, 0, length, position)
      position += length
    }
    fdatasyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

export function unusable(file: string, action: 'opened' | 'used', error: unknown): Error {
  const advice = isDiskFault(error)
    ? 'The disk may be full or failing: free space or check the disk, then start again.'
    : 'It must be a SQLite database, or not exist yet, in a folder where this user may read and write.'
  return new Error(`The database file ${file} cannot be ${action}: ${messageOf(error)}. ${advice}`, { cause: error })
}

/** Whether an error of SQLite or Node.js means that the disk is full or failing. */
export function isDiskFault(error: unknown): boolean {
  return /^(SQLITE_IOERR|SQLITE_FULL$|ENOSPC$|EIO$)/.test(String((error as NodeJS.ErrnoException).code))
}

/** Whether an error means that another process holds a lock on the file. */
export function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')
}

function isBusyOrMoved(error: unknown): boolean {
  return isBusy(error) || (error instanceof Sqlite.SqliteError && error.code === 'SQLITE_READONLY_DBMOVED')
}
