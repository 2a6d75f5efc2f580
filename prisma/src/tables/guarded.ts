import { Busy } from '../errors.ts'
import type { Executor } from './executor.ts'
import type { Statement } from './sql.ts'

/** A read-only executor. It rejects row locks too: reads that decide a write belong in `Database.write`. */
export function readOnly(executor: Executor): Executor {
  return guarded(executor, (isWrite) => {
    if (isWrite) throw new Error('Database.read is a readonly database connection: use Database.write to write.')
  })
}

/**
 * An executor for one writing statement, which is its own transaction.
 *
 * @throws Error before a second write, and before an insert of several rows, which may need a rollback
 */
export function singleWriteOnly(executor: Executor): Executor {
  let hasWritten = false
  return guarded(executor, (isWrite, rows) => {
    if (!isWrite) return
    if (rows > 1) throw new Error('An autocommit write cannot insert several rows.')
    if (hasWritten) throw new Error('An autocommit write cannot write twice.')
    hasWritten = true
  })
}

/** A transaction timed out. */
export class WriteTimeout extends Busy {
  constructor() {
    super('The write timed out and was rolled back.')
  }
}

/**
 * Runs the work of a transaction on its connection. Statements after its end are rejected: they would become part of the next
 * transaction.
 *
 * @throws WriteTimeout when the work takes longer than `timeoutMs`
 */
export async function withDeadline<T>(
  connection: Executor,
  timeoutMs: number,
  work: (executor: Executor) => Promise<T>,
): Promise<T> {
  let hasEnded = false
  const executor = guarded(connection, () => {
    if (hasEnded) throw new Error('The transaction of this write has ended: await all its queries.')
  })
  const { promise: expiry, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new WriteTimeout()), timeoutMs)
  try {
    return await Promise.race([work(executor), expiry])
  } finally {
    hasEnded = true
    clearTimeout(timer)
  }
}

/**
 * The executor has no background: that would not see the transaction. So a write must not scan a table, but get the ids that
 * a read has found.
 *
 * @param before called before each statement: whether it writes or locks, and the number of rows it inserts, or 0
 */
export function guarded(executor: Executor, before: (isWrite: boolean, rows: number) => void): Executor {
  return {
    isRemote: executor.isRemote,
    namesRow: executor.namesRow,
    searchLimit: executor.searchLimit,
    all: (statement) => {
      before(writesOrLocks(statement), 0)
      return executor.all(statement)
    },
    raw: (statement) => {
      before(writesOrLocks(statement), 0)
      return executor.raw(statement)
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

function writesOrLocks({ text }: Statement): boolean {
  return !text.startsWith('SELECT') || /FOR (?:UPDATE|KEY SHARE)$/.test(text)
}
