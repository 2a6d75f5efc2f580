import { randomUUID } from 'node:crypto'
import { existsSync, linkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { chmod, chown, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import Sqlite from 'better-sqlite3'
import { isPostgresUrl } from '../postgres/url.ts'
import { writeAtomically } from './atomic-file.ts'
import { createFile, databaseFile, prepareFolder, resolveLinks } from './file.ts'
import { identityOf } from './file-guard.ts'
import { type Inspection, inspect, isDamage } from './inspection.ts'
import { isBusy } from './migrate.ts'

const PAGES_PER_STEP = 1_000
const PAGE_BYTES = 4_096
const AUDIT = 'audit_entries'

export type { Inspection }

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

/**
 * Writes a consistent copy of a database that may be in use: its state at one moment after the call. The copy neither waits
 * for writers nor blocks them. The copy is a single file that only its owner can read. It gets its final name when it is
 * complete and on disk.
 *
 * @param url `file:` and a path, as in DATABASE_URL
 * @param file path of the copy
 * @throws BackupRefused when the database or the folder of the target file is missing, the database is damaged, or the target
 * file exists, is in use or belongs to the database
 */
export async function backUp(
  url: string,
  file: string,
  { replace = false, onProgress }: CopyOptions = {},
): Promise<Inspection> {
  const source = requireSource(sqliteFile(url))
  const target = requireFile(resolveLinks(resolve(file)))
  const identity = identityOf(target)
  const isNew = identity === undefined
  if (!isNew && !replace) throw alreadyThere(target)
  if (!existsSync(dirname(target))) throw new BackupRefused('missing', `The folder ${dirname(target)} does not exist.`)
  assertNotOwnFile(source, target)
  if (isNew) assertNoJournal(target)
  const old = isNew ? undefined : lockForReplacement(target)
  try {
    return await writeAtomically(target, replace, async (partial) => {
      const inspection = await copy(source, partial, onProgress)
      if (!isNew) assertInPlace(target, identity)
      return inspection
    })
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? alreadyThere(target) : error
  } finally {
    old?.close()
  }
}

/**
 * Replaces the database with a backup. The replacement is atomic: after a crash the database is either the old or the new
 * one, complete.
 *
 * @param file a file that {@link backUp} wrote, or another SQLite file with this program's tables
 * @param url `file:` and a path; a missing folder is created
 * @throws BackupRefused when the file is missing, is damaged, belongs to another program or is the database itself, or when
 * the database exists or is in use
 */
export async function restore(
  file: string,
  url: string,
  { replace = false, onProgress }: CopyOptions = {},
): Promise<Inspection> {
  const source = requireSource(resolve(file))
  const target = requireFile(sqliteFile(url))
  assertNotOwnFile(target, source)
  prepareFolder(target)
  // A service that starts during the restore must find a locked database instead of creating one.
  const isNew = createFile(target)
  // A killed restore leaves a single page behind.
  if (!replace && statSync(target).size > PAGE_BYTES) throw alreadyThere(target)
  const identity = identityOf(target)
  let old = lockForReplacement(target)
  let isVacant = false
  try {
    isVacant = old !== undefined && hasNoTables(old)
    if (!replace && !isVacant) throw alreadyThere(target)
    if (isNew) writeFirstPage(old)
    return await writeAtomically(target, true, async (partial) => {
      const inspection = await copy(source, partial, onProgress)
      if (inspection.mismatch !== null) throw new BackupRefused('unusable', `${source}: ${inspection.mismatch}`)
      if (old !== undefined && !isVacant) continueAfter(old, partial)
      await copyOwnership(isVacant ? dirname(target) : target, partial)
      if (old === undefined) {
        // SQLite removes these when it takes the lock. Those of a damaged database would be applied to the new one.
        for (const rest of ['-wal', '-shm', '-journal']) await rm(target + rest, { force: true })
        // Without them the file may be intact, and then a service can start on it.
        old = lockForReplacement(target)
      }
      assertInPlace(target, identity)
      writeFirstPage(old)
      return inspection
    })
  } catch (error) {
    if (isNew && isVacant && identityOf(target) === identity) await rm(target)
    throw error
  } finally {
    old?.close()
  }
}

/**
 * Checks a whole database, which may be in use.
 *
 * @param url `file:` and a path
 * @throws BackupRefused when the file is missing
 */
export function check(url: string): Inspection {
  const database = openSnapshot(requireSource(sqliteFile(url)))
  try {
    return inspect(database)
  } finally {
    database.close()
  }
}

async function copy(from: string, to: string, onProgress: CopyOptions['onProgress']): Promise<Inspection> {
  const source = openSnapshot(from)
  try {
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
  } finally {
    source.close()
  }
}

/**
 * Opens a database with a read transaction: without it, SQLite restarts the copy at every write of another connection. The
 * connection is writable because closing a read-only one leaves the files of the write-ahead log behind.
 */
function openSnapshot(file: string): Sqlite.Database {
  try {
    const database = new Sqlite(file, { fileMustExist: true })
    database.pragma('query_only = ON')
    database.exec('BEGIN')
    return database
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

/**
 * Locks a database that is about to be replaced. A process that opens it in the meantime waits, and then every write of it
 * fails: outside WAL mode SQLite checks that the file still has its name.
 *
 * @returns undefined for a damaged file that no other process has open: such a file cannot be locked
 * @throws BackupRefused when another process has it open, or may have
 */
function lockForReplacement(file: string): Sqlite.Database | undefined {
  const database = new Sqlite(file, { timeout: 0 })
  try {
    database.pragma('journal_mode = DELETE')
    // Keeps the lock after a commit, and no journal: its name may belong to a new database by the time it is deleted.
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database.close()
    if (!isBusy(error) && !isDamage(error)) throw error
    if (isDamage(error) && !isOpenElsewhere(file)) return undefined
    throw new BackupRefused('in use', `The database ${file} is in use. Stop the service first.`)
  }
}

/**
 * Gives a locked file that is empty its first page. SQLite does not check the name of a file without pages: a process that
 * opened it before its replacement would write a log, which the next one to open the new file would apply to it.
 */
function writeFirstPage(database: Sqlite.Database | undefined): void {
  if (database === undefined || statSync(database.name).size > 0) return
  database.exec('PRAGMA user_version = 0; COMMIT')
}

/**
 * Lets a restored database continue after the one that it replaces: ids go on above those of both, and every version is above
 * all that the replaced records had. An id or a version that a client holds then never means other content.
 */
function continueAfter(old: Sqlite.Database, file: string): void {
  const database = new Sqlite(file)
  try {
    const raise = highestVersion(old)
    const last = lastIds(database)
    const next = highestVersion(database) + raise
    database.transaction(() => {
      for (const table of versionedTables(database)) {
        database.prepare(`UPDATE "${table}" SET "version" = "version" + ?`).run(raise)
      }
      for (const [table, id] of lastIds(old)) {
        if (!tableNames(database).includes(table)) continue
        database.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(table)
        database
          .prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)')
          .run(table, Math.max(id, last.get(table) ?? 0))
      }
      database.pragma(`user_version = ${next}`)
    })()
  } finally {
    database.close()
  }
}

/**
 * A number that no version exceeds, also of deleted records: each change since the last restore has an audit entry, and
 * `user_version` is this number at that restore.
 */
function highestVersion(database: Sqlite.Database): number {
  const restored = database.pragma('user_version', { simple: true }) as number
  const changes = tableNames(database).includes(AUDIT) ? maximum(database, AUDIT, 'id') : 0
  return Math.max(
    restored + changes + 1,
    ...versionedTables(database).map((table) => maximum(database, table, 'version')),
  )
}

function tableNames(database: Sqlite.Database): string[] {
  return database.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all()
}

/** The last assigned id of each table. */
function lastIds(database: Sqlite.Database): Map<string, number> {
  if (!tableNames(database).includes('sqlite_sequence')) return new Map()
  return new Map(database.prepare<[], [string, number]>('SELECT name, seq FROM sqlite_sequence').raw().all())
}

function versionedTables(database: Sqlite.Database): string[] {
  const hasVersion = database.prepare(`SELECT 1 FROM pragma_table_info(?) WHERE name = 'version'`)
  return tableNames(database).filter((table) => hasVersion.get(table) !== undefined)
}

function maximum(database: Sqlite.Database, table: string, column: string): number {
  return database.prepare<[], number | null>(`SELECT max("${column}") FROM "${table}"`).pluck().get() ?? 0
}

function hasNoTables(database: Sqlite.Database): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined
}

/**
 * Whether another process has a damaged database open. SQLite checks the locks of a file before reading it only if there is
 * a journal to roll back. So this creates a journal without pages, under a second name (hard link) of the file, where no
 * other process finds it.
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

/** Root may run the restore for the user that the service runs as. */
async function copyOwnership(from: string, to: string): Promise<void> {
  const model = await stat(from)
  if (model.isFile()) await chmod(to, model.mode)
  if (process.getuid?.() === 0) await chown(to, model.uid, model.gid)
}

function sqliteFile(url: string): string {
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

function requireSource(file: string): string {
  if (existsSync(file)) return file
  throw new BackupRefused('missing', `The file ${file} does not exist.`)
}

function requireFile(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined || found.isFile()) return file
  throw new BackupRefused('unsupported', `${file} is not a regular file.`)
}

/** A log or journal that is left of a deleted database would be applied to a new one. */
function assertNoJournal(file: string): void {
  for (const name of ['-wal', '-journal'].map((ending) => file + ending)) {
    if (existsSync(name))
      throw new BackupRefused('exists', `${name} is left of another database. Remove it, or name another file.`)
  }
}

function alreadyThere(file: string): BackupRefused {
  return new BackupRefused('exists', `${file} already exists. Use --replace to replace it.`)
}

function assertNotOwnFile(database: string, file: string): void {
  const own = ['', '-wal', '-shm', '-journal'].map((ending) => database + ending)
  const identity = identityOf(file)
  if (!own.includes(file) && (identity === undefined || !own.map(identityOf).includes(identity))) return
  throw new BackupRefused('unsupported', `${file} belongs to the database ${database} itself. Name another file.`)
}

/** @param identity of the file before it was locked: otherwise the lock may be that of a file without a name */
function assertInPlace(file: string, identity: string | undefined): void {
  if (identityOf(file) !== identity) throw new BackupRefused('in use', `${file} was replaced by another program.`)
}
