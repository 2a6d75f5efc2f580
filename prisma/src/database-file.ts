import { closeSync, fsyncSync, mkdirSync, openSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The absolute path of the database file that a URL names, through symbolic links: SQLite keeps the write-ahead log next
 * to the file that a link leads to.
 *
 * @param url `file:data/app.db` (relative to the working directory), `file:/data/app.db` or `file:///data/app.db`.
 * @throws Error that names the URL, without what could be a password, when it is of another kind.
 */
export function databaseFile(url: string): string {
  if (/^file:\/\/\/[^?#]+$/.test(url)) return withoutLinks(fileURLToPath(url))
  // Two connections in memory would be two databases; parameters would end up in the file's name.
  if (!/^file:(?!\/\/|:memory:)[^?#]+$/.test(url)) {
    throw new Error(
      `The database URL "${withoutSecrets(url)}" is not supported: use "file:" and a path, such as "file:data/app.db", or "postgresql://user:password@host/database".`,
    )
  }
  return withoutLinks(resolve(url.slice('file:'.length)))
}

/** The path of the file that `path` leads to through symbolic links, whether the file exists or not. */
export function withoutLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    // A dangling link leads to where SQLite would make the file; links in a loop lead nowhere.
    const target = codeOf(error) === 'ELOOP' ? undefined : linkTarget(path)
    return target === undefined ? path : withoutLinks(target)
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return resolve(realpathSync(dirname(path)), readlinkSync(path))
  } catch {
    return undefined
  }
}

// SQLite takes paths of 512 bytes and names files next to the database after it: `-journal` is the longest ending.
const LONGEST_PATH = 500
const LONGEST_NAME = 240

/**
 * Makes the folder of a database file.
 *
 * @throws Error when the folder cannot be made, or the path leads to something other than a regular file
 */
export function prepareFolder(file: string): void {
  if (Buffer.byteLength(file) > LONGEST_PATH) throw new Error(`its path is longer than ${LONGEST_PATH} bytes`)
  if (Buffer.byteLength(basename(file)) > LONGEST_NAME) throw new Error(`its name is longer than ${LONGEST_NAME} bytes`)
  makeFolder(dirname(file))
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined || found.isFile()) return
  throw new Error(found.isDirectory() ? 'it is a folder' : 'it is not a regular file')
}

// Not by mkdir's `recursive`: on a file system that makes no folders, such as /proc, Node.js tries without an end.
function makeFolder(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  if (found !== undefined) throw new Error(`${folder} is not a folder`)
  const parent = dirname(folder)
  makeFolder(parent)
  try {
    mkdirSync(folder)
  } catch (error) {
    // Another process may have been first.
    if (codeOf(error) !== 'EEXIST' || !statSync(folder).isDirectory()) throw error
  }
  syncFolder(parent)
}

/** Brings the names in a folder to the disk: a file whose name is lost is lost. */
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
