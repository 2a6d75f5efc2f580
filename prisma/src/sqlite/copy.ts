import Sqlite from 'better-sqlite3'
import { isPostgresUrl } from '../postgres/url.ts'
import { databaseFile } from './file.ts'
import { type Inspection, inspect } from './inspection.ts'

const PAGES_PER_STEP = 1_000

export interface CopyOptions {
  /** Replaces an existing target file. */
  replace?: boolean
  /** Called after each step with the pages copied so far and the total. An error it throws aborts the copy without a trace. */
  onProgress?: (done: number, total: number) => void
}

/** A backup, restore or check was refused; nothing was changed. */
export class BackupRefused extends Error {
  /**
   * `unsupported`: not a SQLite file, or source and target are the same file. `exists`: the target exists and `replace` is
   * not set. `unusable`: the file is damaged, or belongs to another program or a newer version of this one.
   */
  readonly fault: 'unsupported' | 'missing' | 'exists' | 'in use' | 'unusable'

  constructor(fault: BackupRefused['fault'], message: string) {
    super(message)
    this.fault = fault
  }
}

/** @throws BackupRefused unless a URL names a SQLite file */
export function sqliteFile(url: string): string {
  if (isPostgresUrl(url)) {
    throw new BackupRefused(
      'unsupported',
      'Only SQLite files are supported. For PostgreSQL use pg_dump and pg_restore.',
    )
  }
  try {
    return databaseFile(url)
  } catch (error) {
    throw new BackupRefused('unsupported', (error as Error).message)
  }
}

/** Copies an intact database to a file, in its state at one moment. */
export async function copy(from: string, to: string, onProgress: CopyOptions['onProgress']): Promise<Inspection> {
  using source = openSnapshot(from)
  const inspection = inspect(source)
  if (inspection.damage.length > 0) {
    throw new BackupRefused('unusable', `${from} is damaged:\n${inspection.damage.join('\n')}`)
  }
  await source.backup(to, {
    progress({ totalPages, remainingPages }) {
      onProgress?.(totalPages - remainingPages, totalPages)
      return PAGES_PER_STEP
    },
  })
  leaveWalMode(to)
  return inspection
}

/**
 * Opens a database with a read transaction: without it, SQLite restarts the copy at every write of another connection. The
 * connection is writable because closing a read-only one leaves the files of the write-ahead log behind.
 */
export function openSnapshot(file: string): Sqlite.Database & Disposable {
  try {
    const database = new Sqlite(file, { fileMustExist: true })
    database.pragma('query_only = ON')
    database.exec('BEGIN')
    return Object.assign(database, { [Symbol.dispose]: () => database.close() })
  } catch (error) {
    throw new Error(`${file} cannot be opened: ${(error as Error).message}.`, { cause: error })
  }
}

/** Turns WAL mode off, so that the file can be moved alone and opened in a read-only folder. */
function leaveWalMode(file: string): void {
  const database = new Sqlite(file)
  database.pragma('journal_mode = DELETE')
  database.close()
}
