import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, linkSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { chmod, chown, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import Sqlite from 'better-sqlite3'
import { databaseFile, prepareFolder, withoutLinks } from './database-file.ts'
import { type Inspection, inspect, isDamage } from './inspection.ts'
import { isBusy } from './migrate.ts'
import { place } from './place.ts'
import { isPostgresUrl } from './postgres/url.ts'

const PAGES_AT_ONCE = 1_000

export type { Inspection }

export interface CopyOptions {
  /** What is there already is replaced. */
  replace?: boolean
  /** Called after each piece, with pages done and pages in all; what it throws ends the work and leaves nothing behind. */
  onProgress?: (done: number, total: number) => void
}

/** A backup, restore or check that was refused; everything is as it was before. */
export class BackupRefused extends Error {
  /**
   * `unsupported`: of another kind, or a file onto itself. `exists`: replacing was not asked for. `unusable`: damaged, or
   * of another program or a newer version of this one.
   */
  readonly fault: 'unsupported' | 'missing' | 'exists' | 'in use' | 'unusable'

  constructor(fault: BackupRefused['fault'], message: string) {
    super(message)
    this.fault = fault
  }
}

/**
 * Writes a consistent copy of a database that may be in use: its state at one moment after the call, without waiting for
 * writers or holding them up. The copy is one file, readable by its owner alone; it has its name only once it is whole
 * and on disk.
 *
 * @param url `file:` and a path, as the service takes it
 * @param file where the copy goes
 * @throws BackupRefused when the database is missing or damaged, or the file is there already, in use or the database's own
 */
export async function backUp(
  url: string,
  file: string,
  { replace = false, onProgress }: CopyOptions = {},
): Promise<Inspection> {
  const source = existing(sqliteFile(url))
  const target = absent(withoutLinks(resolve(file)), replace)
  refuseOwnFile(source, target)
  const old = existsSync(target) ? hold(target) : undefined
  try {
    return await place(target, replace, (partial) => copy(source, partial, onProgress))
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? alreadyThere(target) : error
  } finally {
    old?.close()
  }
}

/**
 * Makes a backup the database. Whatever happens meanwhile, the database is the old one or the new one, whole.
 *
 * @param file what {@link backUp} wrote, or another SQLite file with this program's tables
 * @param url `file:` and a path; the folder is made when absent
 * @throws BackupRefused when the file is missing, damaged, of another program or the database itself, or the database is
 * there already or in use
 */
export async function restore(
  file: string,
  url: string,
  { replace = false, onProgress }: CopyOptions = {},
): Promise<Inspection> {
  const source = existing(resolve(file))
  const target = absent(sqliteFile(url), replace)
  refuseOwnFile(target, source)
  prepareFolder(target)
  // A service that starts meanwhile must find a database that is locked, and not make one.
  const isNew = createEmpty(target)
  const old = hold(target)
  const held = identityOf(target)
  try {
    absent(target, replace)
    return await place(target, true, async (partial) => {
      const inspection = await copy(source, partial, onProgress)
      if (inspection.mismatch !== null) throw new BackupRefused('unusable', `${source}: ${inspection.mismatch}`)
      await ownLike(isEmpty(target) ? dirname(target) : target, partial)
      // Where there is a lock, SQLite has removed these. One of a damaged database would be applied to the new one.
      if (old === undefined) for (const rest of ['-wal', '-shm', '-journal']) await rm(target + rest, { force: true })
      if (identityOf(target) !== held) throw new BackupRefused('in use', `${target} was replaced by another program.`)
      return inspection
    })
  } catch (error) {
    if (isNew && identityOf(target) === held) await rm(target)
    throw error
  } finally {
    old?.close()
  }
}

/**
 * Reads a whole database, which may be in use, and says what is wrong with it.
 *
 * @param url `file:` and a path
 * @throws BackupRefused when it is missing
 */
export function check(url: string): Inspection {
  const database = openAt(existing(sqliteFile(url)))
  try {
    return inspect(database)
  } finally {
    database.close()
  }
}

async function copy(from: string, to: string, onProgress: CopyOptions['onProgress']): Promise<Inspection> {
  const source = openAt(from)
  try {
    const inspection = inspect(source)
    if (inspection.damage.length > 0) {
      throw new BackupRefused('unusable', `${from} is damaged:\n${inspection.damage.join('\n')}`)
    }
    await source.backup(to, {
      progress({ totalPages, remainingPages }) {
        onProgress?.(totalPages - remainingPages, totalPages)
        return PAGES_AT_ONCE
      },
    })
    toOneFile(to)
    return inspection
  } finally {
    source.close()
  }
}

/**
 * Opens a database to read one state of it: a copy of pages that others may write would begin anew at every write. The
 * connection may write all the same, for a reader would leave the files of the write-ahead log behind.
 */
function openAt(file: string): Sqlite.Database {
  try {
    const database = new Sqlite(file, { fileMustExist: true })
    database.pragma('query_only = ON')
    database.exec('BEGIN')
    return database
  } catch (error) {
    throw new Error(`${file} cannot be opened: ${(error as Error).message}.`, { cause: error })
  }
}

/** So that it can be opened where nothing may be written, and moved without a thought for other files. */
function toOneFile(file: string): void {
  const database = new Sqlite(file)
  database.pragma('journal_mode = DELETE')
  database.close()
}

/**
 * Keeps every other process from a database that is to be replaced. One that opens it meanwhile waits, and is then refused
 * every write: outside WAL mode SQLite checks whether the file still has its name.
 *
 * @returns undefined where the file is damaged, which cannot be locked and which nobody else has open
 * @throws BackupRefused when another process has it open, or may have
 */
function hold(file: string): Sqlite.Database | undefined {
  const database = new Sqlite(file, { timeout: 0 })
  try {
    database.pragma('journal_mode = DELETE')
    database.exec('BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database.close()
    if (!isBusy(error) && !isDamage(error)) throw error
    if (isDamage(error) && !isOpenElsewhere(file)) return undefined
    throw new BackupRefused('in use', `The database ${file} is in use. Stop the service first.`)
  }
}

/**
 * Whether another process has a database open that is damaged. SQLite looks at the locks of a file before it reads it only
 * where it finds a journal to roll back. This one is empty of pages and belongs to another name of the file, where no other
 * process finds it.
 */
function isOpenElsewhere(file: string): boolean {
  const name = `${file}.${randomUUID()}.partial`
  linkSync(file, name)
  try {
    writeFileSync(`${name}-journal`, 'no pages')
    const database = new Sqlite(name, { timeout: 0 })
    try {
      database.pragma('user_version')
    } finally {
      database.close()
    }
    return false
  } catch (error) {
    if (isBusy(error)) return true
    if (isDamage(error)) return false
    throw error
  } finally {
    for (const ending of ['', '-journal']) rmSync(name + ending, { force: true })
  }
}

/** @returns whether there was no file */
function createEmpty(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx'))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Root may restore for the user that the service runs as. */
async function ownLike(model: string, file: string): Promise<void> {
  const like = await stat(model)
  if (like.isFile()) await chmod(file, like.mode)
  if (process.getuid?.() === 0) await chown(file, like.uid, like.gid)
}

function sqliteFile(url: string): string {
  if (isPostgresUrl(url)) {
    throw new BackupRefused('unsupported', 'This works on SQLite files. PostgreSQL has pg_dump and pg_restore for it.')
  }
  try {
    return databaseFile(url)
  } catch (error) {
    throw new BackupRefused('unsupported', (error as Error).message)
  }
}

function existing(file: string): string {
  if (existsSync(file)) return file
  throw new BackupRefused('missing', `There is no file ${file}.`)
}

function absent(file: string, replace: boolean): string {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found !== undefined && !found.isFile()) throw new BackupRefused('unsupported', `${file} is not a regular file.`)
  // An empty file is what a restore leaves behind that was killed.
  if (replace || found === undefined || found.size === 0) return file
  throw alreadyThere(file)
}

function alreadyThere(file: string): BackupRefused {
  return new BackupRefused('exists', `${file} is there already: --replace replaces it.`)
}

function refuseOwnFile(database: string, file: string): void {
  const own = ['', '-wal', '-shm', '-journal'].map((ending) => database + ending)
  const identity = identityOf(file)
  if (!own.includes(file) && (identity === undefined || !own.map(identityOf).includes(identity))) return
  throw new BackupRefused('unsupported', `${file} belongs to the database ${database} itself. Name another file.`)
}

/** What tells a file from all others, whichever of its names it is called by. */
function identityOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev} ${found.ino}`
}

function isEmpty(file: string): boolean {
  return statSync(file).size === 0
}
