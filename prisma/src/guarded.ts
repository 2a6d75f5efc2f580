import { Busy } from './errors.ts'
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

/** A transaction took too long. */
export class Late extends Busy {
  constructor() {
    super('The write took too long and was undone.')
  }
}

/**
 * Runs the work of a transaction on its connection. What the work sends after its end is refused: it must not become part
 * of the next transaction.
 *
 * @throws Late when the work takes longer than `longestMs`
 */
export async function inTime<T>(
  connection: Executor,
  longestMs: number,
  work: (executor: Executor) => Promise<T>,
): Promise<T> {
  let hasEnded = false
  const executor = guarded(connection, () => {
    if (hasEnded) throw new Error('The transaction of this write has ended: await every query inside it.')
  })
  const { promise: expiry, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Late()), longestMs)
  try {
    return await Promise.race([work(executor), expiry])
  } finally {
    hasEnded = true
    clearTimeout(timer)
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
