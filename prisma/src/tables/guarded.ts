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
export function guarded(executor: Executor, before: Guard): Executor {
  return new Guarded(executor, before)
}

type Guard = (statement: Statement | undefined, rows: number) => void

/** A class, because each write makes two. */
class Guarded implements Executor {
  readonly isRemote: boolean
  readonly namesRow: boolean | undefined
  readonly searchLimit: number | undefined
  readonly #executor: Executor
  readonly #before: Guard

  constructor(executor: Executor, before: Guard) {
    this.isRemote = executor.isRemote
    this.namesRow = executor.namesRow
    this.searchLimit = executor.searchLimit
    this.#executor = executor
    this.#before = before
  }

  all(statement: Statement) {
    this.#before(statement, 0)
    return this.#executor.all(statement)
  }

  raw(statement: Statement) {
    this.#before(statement, 0)
    return this.#executor.raw(statement)
  }

  run(statement: Statement) {
    this.#before(undefined, 0)
    return this.#executor.run(statement)
  }

  insert(...args: Parameters<Executor['insert']>) {
    this.#before(undefined, args[1].length)
    return this.#executor.insert(...args)
  }
}

function writesOrLocks(statement: Statement | undefined): boolean {
  if (statement === undefined) return true
  const { text } = statement
  return !text.startsWith('SELECT') || / FOR (?:(?:NO KEY )?UPDATE|KEY SHARE)$/.test(text)
}
