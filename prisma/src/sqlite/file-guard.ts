import { constants, type FSWatcher, renameSync, statSync, watch } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import type { Options } from '../database.ts'
import { FileMoved, ReadOnly } from '../errors.ts'

/** The device and the inode of a file: the same for all its names; undefined if there is no such file. */
export function identityOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}-${found.ino}`
}

/** @throws Error if a file that was open in another process no longer exists */
export function assertExists(file: string): void {
  if (identityOf(file) === undefined) throw new Error(notInPlace(file))
}

/** @throws ReadOnly if a file's disk is full or read-only */
export async function assertWritable(file: string): Promise<void> {
  await access(file, constants.W_OK).catch((cause: unknown) => {
    throw new ReadOnly('its file cannot be written', { cause })
  })
  const { bavail, bfree } = await statfs(file)
  const free = process.getuid?.() === 0 ? bfree : bavail
  if (free === 0) throw new ReadOnly('its disk is full')
}

/**
 * Guards an open SQLite file against being moved, deleted or replaced by another program. SQLite does not notice that in WAL
 * mode: it would continue to write to files that no path leads to, and the next start would apply the remaining write-ahead
 * log to whatever file is at the path by then.
 */
export class FileGuard {
  readonly #file: string
  readonly #log: string
  readonly #identity: string | undefined
  readonly #logIdentity: string | undefined
  readonly #onWarning: Options['onWarning']
  readonly #watcher: FSWatcher | undefined
  #lost: FileMoved | undefined

  /** @param file is open with its log, and stays open until {@link close} */
  constructor(file: string, { onWarning }: Options) {
    this.#file = file
    this.#log = `${file}-wal`
    this.#identity = identityOf(file)
    this.#logIdentity = identityOf(this.#log)
    this.#onWarning = onWarning
    this.#watcher = watchFile(file, () => this.#verify())
  }

  /**
   * To be called before and after each write: a write that was just committed may be lost.
   *
   * @throws FileMoved once the file is known to be moved, deleted or replaced
   */
  check(): void {
    if (this.#lost !== undefined) throw this.#lost
  }

  /** Like {@link check}, but looks at the paths first. */
  ping(): void {
    this.#verify()
    this.check()
  }

  /** Closes the file. If it is gone, renames its log, whose content is all that is left of the last writes. */
  async close(closeFile: () => Promise<void>): Promise<void> {
    this.#watcher?.close()
    await closeFile()
    const isLeft = this.#logIdentity !== undefined && identityOf(this.#log) === this.#logIdentity
    if (isLeft && identityOf(this.#file) !== this.#identity)
      renameSync(this.#log, `${this.#log}.${this.#identity?.split('-')[1]}`)
  }

  #verify(): void {
    const isInPlace = identityOf(this.#file) === this.#identity && identityOf(this.#log) === this.#logIdentity
    if (isInPlace || this.#lost !== undefined) return
    this.#lost = new FileMoved(notInPlace(this.#file))
    this.#onWarning?.('no more writes are accepted', this.#lost)
  }
}

/**
 * Calls `onEvent` when a file changes, also when it is moved or deleted. Verifying the path at each write instead would take 15 %
 * more CPU time for a single write.
 *
 * @returns undefined where the system cannot watch the file: then only pings verify it
 */
function watchFile(file: string, onEvent: () => void): FSWatcher | undefined {
  try {
    return watch(file, { persistent: false }, onEvent).on('error', () => {})
  } catch {
    return undefined
  }
}

function notInPlace(file: string): string {
  return `The database file ${file} or its write-ahead log was moved, deleted or replaced while the service was running. Stop the service and check the file.`
}
