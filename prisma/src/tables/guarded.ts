import { Busy } from '../errors.ts'
import type { Executor } from './executor.ts'
import type { Statement } from './sql.ts'

/** A read-only executor. It rejects row locks too: reads that decide a write belong in `Database.write`. */
export function readOnly(executor: Executor): Executor {
  return guarded(executor, (statement) => {
    if (writesOrLocks(statement))
      throw new Error('Database.read is a readonly database connection: use Database.write to write.')
  })
}

/**
 * An executor for one writing statement, which is its own transaction.
 *
 * @throws Error before a second write, and before an insert of several rows, which may need a rollback
 */
export function singleWriteOnly(executor: Executor): Executor {
  let hasWritten = false
  return guarded(executor, (statement, rows) => {
    if (!writesOrLocks(statement)) return
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
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise<T>((resolve, reject) => {
      timer = setTimeout(() => reject(new WriteTimeout()), timeoutMs)
      work(executor).then(resolve, reject)
    })
  } finally {
    hasEnded = true
    clearTimeout(timer)
  }
}

/**
 * The executor has no background: that would not see the transaction. So a write must not scan a table, but get the ids that
 * a read has found.
 *
 * @param before called before each statement: with one that may be a read, or the number of rows that it inserts
 */
export function guarded(
  executor: Executor,
  before: (statement: Statement | undefined, rows: number) => void,
): Executor {
  return {
    isRemote: executor.isRemote,
    namesRow: executor.namesRow,
    searchLimit: executor.searchLimit,
    all: (statement) => {
      before(statement, 0)
      return executor.all(statement)
    },
    raw: (statement) => {
      before(statement, 0)
      return executor.raw(statement)
    },
    run: (statement) => {
      before(undefined, 0)
      return executor.run(statement)
    },
    insert: (insertion, rows, ...rest) => {
      before(undefined, rows.length)
      return executor.insert(insertion, rows, ...rest)
    },
  }
}

function writesOrLocks(statement: Statement | undefined): boolean {
  if (statement === undefined) return true
  const { text } = statement
  return !text.startsWith('SELECT') || text.endsWith('FOR UPDATE') || text.endsWith('FOR KEY SHARE')
}
