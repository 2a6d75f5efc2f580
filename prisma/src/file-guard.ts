import { type FSWatcher, renameSync, statSync, watch } from 'node:fs'
import type { Options } from './database.ts'
import type { Engine } from './engine.ts'
import { DurabilityLost } from './errors.ts'

/** The identity of a file: its inode, as SQLite itself compares it; undefined if there is no such file. */
export function inodeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino
}

/** @throws Error unless a file has the inode */
export function assertInode(file: string, inode: number): void {
  if (inodeOf(file) !== inode) throw new Error(notInPlace(file))
}

/**
 * Guards an open SQLite file against being moved, deleted or replaced by another program. SQLite does not notice that in WAL
 * mode: it would continue to write to files that no path leads to, and the next start would apply the remaining write-ahead
 * log to whatever file is at the path by then.
 *
 * From then on writes and pings throw DurabilityLost, also a write that was just committed: it may be lost. Reads continue.
 * Closing renames the log, whose content is all that is left of recent writes.
 */
export function guardFile(engine: Engine, file: string, { onWarning }: Options): Engine {
  const log = `${file}-wal`
  const inodes = { file: inodeOf(file), log: inodeOf(log) }
  let lost: DurabilityLost | undefined
  const verify = () => {
    // Through Prisma the log is created by the first query.
    inodes.log ??= inodeOf(log)
    if (lost !== undefined || (inodeOf(file) === inodes.file && inodeOf(log) === inodes.log)) return
    lost = new DurabilityLost(notInPlace(file))
    onWarning?.('no more writes are accepted', lost)
  }
  const refuseLost = () => {
    if (lost !== undefined) throw lost
  }
  const watcher = watchFile(file, verify)
  return {
    ...engine,
    write: async (work, options) => {
      refuseLost()
      const result = await engine.write(work, options)
      refuseLost()
      return result
    },
    ping: async () => {
      await engine.ping()
      verify()
      refuseLost()
    },
    close: async () => {
      watcher?.close()
      await engine.close()
      const isLeft = inodes.log !== undefined && inodeOf(log) === inodes.log
      if (isLeft && inodeOf(file) !== inodes.file) renameSync(log, `${log}.${inodes.file}`)
    },
  }
}

/**
 * Calls `onEvent` when a file changes, also when it is moved or deleted. Verifying the path at each write instead would cost a
 * single write a tenth of its CPU time.
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
