import type { Executor } from './sql-table.ts'

/** An executor that does not write: what decides a write belongs into `Database.write`. */
export function readOnly(executor: Executor): Executor {
  return guarded(executor, (isWrite) => {
    if (isWrite) throw new Error('Database.read cannot write, as of a readonly database: use Database.write.')
  })
}

/**
 * @throws Error before a second statement that writes, which would be a transaction of its own, and before one that may
 * have to be undone
 */
export function writingOnce(executor: Executor): Executor {
  let hasWritten = false
  return guarded(executor, (isWrite, rows) => {
    if (!isWrite) return
    if (rows > 1) throw new Error('A write that was said to be single stores several rows.')
    if (hasWritten) throw new Error('A write that was said to be single writes twice.')
    hasWritten = true
  })
}

/** A connection for as long as a transaction lasts: what comes after `end` must not become part of the next one. */
export function untilEnd(connection: Executor): { executor: Executor; end: () => void } {
  let hasEnded = false
  const executor = guarded(connection, () => {
    if (hasEnded) throw new Error('The transaction of this write has ended: await every query inside it.')
  })
  return {
    executor,
    end: () => {
      hasEnded = true
    },
  }
}

/** @param before is called before each statement: whether it writes or locks, and the number of rows that it inserts, or 0 */
function guarded(executor: Executor, before: (isWrite: boolean, rows: number) => void): Executor {
  return {
    isRemote: executor.isRemote,
    namesRow: executor.namesRow,
    all: (statement) => {
      const { text } = statement
      before(!text.startsWith('SELECT') || text.endsWith('FOR UPDATE'), 0)
      return executor.all(statement)
    },
    run: (statement) => {
      before(true, 0)
      return executor.run(statement)
    },
    insert: (insertion, rows, ...rest) => {
      before(true, rows.length)
      return executor.insert(insertion, rows, ...rest)
    },
  }
}
