import { closeSync, fsyncSync, mkdirSync, openSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The absolute path of the database file that a URL names, with symbolic links resolved: SQLite keeps the write-ahead log
 * next to the target of a link.
 *
 * @param url `file:data/app.db` (relative to the working directory), `file:/data/app.db` or `file:///data/app.db`
 * @throws Error that names the URL, without possible passwords, when it has another form
 */
export function databaseFile(url: string): string {
  if (/^file:\/\/\/[^?#]+$/.test(url)) return resolveLinks(fileURLToPath(url))
  // Two connections in memory would be two databases; parameters would end up in the file's name.
  if (!/^file:(?!\/\/|:memory:)[^?#]+$/.test(url)) {
    throw new Error(
      `The database URL "${withoutSecrets(url)}" is not supported: use "file:" and a path, such as "file:data/app.db", or "postgresql://user:password@host/database".`,
    )
  }
  return resolveLinks(resolve(url.slice('file:'.length)))
}

/** Resolves symbolic links, also to files that do not exist. */
export function resolveLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    // SQLite creates the file at the target of a dangling link. A loop of links has no target.
    const target = codeOf(error) === 'ELOOP' ? undefined : linkTarget(path)
    return target === undefined ? path : resolveLinks(target)
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return resolve(realpathSync(dirname(path)), readlinkSync(path))
  } catch {
    return undefined
  }
}

// SQLite accepts paths of up to 512 bytes and appends suffixes for its other files; `-journal` is the longest.
const MAX_PATH = 500
const MAX_NAME = 240

/**
 * Creates the folder of a database file, for its owner only.
 *
 * @param create creates one folder; tests replace it
 * @throws Error when the folder cannot be created, or the path leads to something other than a regular file
 */
export function prepareFolder(file: string, create: (path: string, mode: number) => void = mkdirSync): void {
  if (Buffer.byteLength(file) > MAX_PATH) throw new Error(`its path is longer than ${MAX_PATH} bytes`)
  if (Buffer.byteLength(basename(file)) > MAX_NAME) throw new Error(`its name is longer than ${MAX_NAME} bytes`)
  createFolder(dirname(file), create)
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined || found.isFile()) return
  throw new Error(found.isDirectory() ? 'it is a folder' : 'it is not a regular file')
}

// Without mkdir's `recursive`: on a file system that does not support folders, such as /proc, Node.js retries forever.
function createFolder(folder: string, create: (path: string, mode: number) => void): void {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  if (found !== undefined) throw new Error(`${folder} is not a folder`)
  const parent = dirname(folder)
  createFolder(parent, create)
  try {
    create(folder, 0o700)
  } catch (error) {
    // Another process may have created it first.
    if (codeOf(error) !== 'EEXIST' || !statSync(folder).isDirectory()) throw error
  }
  syncFolder(parent)
}

/**
 * Creates an empty file that only its owner can read; SQLite gives its log the same permissions.
 *
 * @returns false when the file exists already
 */
export function createFile(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx', 0o600))
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Syncs a folder's entries to disk: without its name a file is lost. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}

function withoutSecrets(url: string): string {
  const parsed = URL.parse(url)
  if (parsed?.hostname) return `${parsed.protocol}//${parsed.hostname}/…`
  const secretsStart = url.search(/@|:\/\/|\?/)
  return secretsStart === -1 ? url : `${url.split(':', 1)[0]}:…`
}
