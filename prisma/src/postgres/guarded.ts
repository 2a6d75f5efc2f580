import type { Executor } from '../sql-table.ts'

/** An executor that does not write: what decides a write belongs into `Database.write`. */
export function readOnly(executor: Executor): Executor {
  return guarded(executor, () => {
    throw new Error('Database.read cannot write, as of a readonly database: use Database.write.')
  })
}

/**
 * @throws Error before a second statement that writes, which would be a transaction of its own, and before one that may
 * have to be undone
 */
export function writingOnce(executor: Executor): Executor {
  let hasWritten = false
  return guarded(executor, (rows) => {
    if (rows > 1) throw new Error('A write that was said to be single stores several rows.')
    if (hasWritten) throw new Error('A write that was said to be single writes twice.')
    hasWritten = true
  })
}

/** @param beforeWrite is called before each statement that writes or locks, with the number of rows that it inserts, or 0 */
function guarded(executor: Executor, beforeWrite: (rows: number) => void): Executor {
  return {
    isRemote: executor.isRemote,
    namesRow: executor.namesRow,
    all: (statement) => {
      const { text } = statement
      if (!text.startsWith('SELECT') || text.endsWith('FOR UPDATE')) beforeWrite(0)
      return executor.all(statement)
    },
    run: (statement) => {
      beforeWrite(0)
      return executor.run(statement)
    },
    insert: (insertion, rows, ...rest) => {
      beforeWrite(rows.length)
      return executor.insert(insertion, rows, ...rest)
    },
  }
}
