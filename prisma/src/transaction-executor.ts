import type { Executor } from './sql-table.ts'
import type { Statement } from './sql-text.ts'

/** A connection for as long as a transaction lasts: what comes later must not become part of the next one. */
export class TransactionExecutor implements Executor {
  readonly isRemote: boolean
  readonly namesRow: boolean | undefined
  readonly #connection: Executor
  #hasEnded = false

  constructor(connection: Executor) {
    this.isRemote = connection.isRemote
    this.namesRow = connection.namesRow
    this.#connection = connection
  }

  all(statement: Statement) {
    return this.#open().all(statement)
  }

  run(statement: Statement) {
    return this.#open().run(statement)
  }

  insert(...insertion: Parameters<Executor['insert']>) {
    return this.#open().insert(...insertion)
  }

  /** Every statement throws from now on. */
  end(): void {
    this.#hasEnded = true
  }

  #open(): Executor {
    if (this.#hasEnded) throw new Error('The transaction of this write has ended: await every query inside it.')
    return this.#connection
  }
}
