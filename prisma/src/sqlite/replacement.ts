import { statSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { BackupRefused } from './copy.ts'
import { identityOf } from './file-guard.ts'
import { isDamage } from './inspection.ts'
import { isBusy } from './open.ts'

/**
 * Locks a database that is about to be replaced. A process that opens it in the meantime waits, and then every write of it
 * fails: outside WAL mode SQLite checks that the file still has its name.
 *
 * @returns undefined for a damaged file, which cannot be locked. A service that has it open accepts no writes once it is replaced
 * @throws BackupRefused when another process has it open
 */
export function lockForReplacement(file: string): Sqlite.Database | undefined {
  const database = new Sqlite(file, { timeout: 0 })
  try {
    database.pragma('journal_mode = DELETE')
    // Keeps the lock after a commit, and no journal: its name may belong to a new database by the time it is deleted.
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database.close()
    if (isDamage(error)) return undefined
    throw isBusy(error) ? new BackupRefused('in use', `The database ${file} is in use. Stop the service first.`) : error
  }
}

/**
 * Gives a locked file that is empty its first page. SQLite does not check the name of a file without pages: a process that
 * opened it before its replacement would write a log, which the next one to open the new file would apply to it.
 */
export function writeFirstPage(database: Sqlite.Database | undefined): void {
  if (database === undefined || statSync(database.name).size > 0) return
  database.exec('PRAGMA user_version = 0; COMMIT')
}

/** @param identity of the file before it was locked: otherwise the lock may be that of a file without a name */
export function assertInPlace(file: string, identity: string | undefined): void {
  if (identityOf(file) !== identity) throw new BackupRefused('in use', `${file} was replaced by another program.`)
}

export function hasNoTables(database: Sqlite.Database): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined
}
