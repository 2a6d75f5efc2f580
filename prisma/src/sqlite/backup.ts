import { existsSync, statSync } from 'node:fs'
import { chmod, chown, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { writeAtomically } from './atomic-file.ts'
import { continueAfter } from './continuation.ts'
import { BackupRefused, type CopyOptions, copy, openSnapshot, sqliteFile } from './copy.ts'
import { createFile, prepareFolder, resolveLinks } from './file.ts'
import { identityOf } from './file-guard.ts'
import { type Inspection, inspect } from './inspection.ts'
import { assertInPlace, hasNoTables, lockForReplacement, writeFirstPage } from './replacement.ts'

const PAGE_BYTES = 4_096

export { BackupRefused, type CopyOptions, type Inspection }

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
  using database = openSnapshot(requireSource(sqliteFile(url)))
  return inspect(database)
}

/** Root may run the restore for the user that the service runs as. */
async function copyOwnership(from: string, to: string): Promise<void> {
  const model = await stat(from)
  if (model.isFile()) await chmod(to, model.mode)
  if (process.getuid?.() === 0) await chown(to, model.uid, model.gid)
}

function alreadyThere(file: string): BackupRefused {
  return new BackupRefused('exists', `${file} already exists. Use --replace to replace it.`)
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

function assertNotOwnFile(database: string, file: string): void {
  const own = ['', '-wal', '-shm', '-journal'].map((ending) => database + ending)
  const identity = identityOf(file)
  if (!own.includes(file) && (identity === undefined || !own.map(identityOf).includes(identity))) return
  throw new BackupRefused('unsupported', `${file} belongs to the database ${database} itself. Name another file.`)
}
