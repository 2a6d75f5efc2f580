import type { Executor, RawResult } from '../tables/executor.ts'
import type { Insertion, Statement } from '../tables/sql.ts'
import type { SqliteBackground } from './background.ts'
import type { SqliteConnection } from './connection.ts'

/**
 * Reads on one connection. All reads of one event loop iteration share a read transaction: its start and end cost SQLite
 * three system calls, a third of the cost of reading a row by id. A write that completes in between ends the transaction, so
 * that reads after its response include it. With other processes on the file only the reads of one callback share a
 * transaction: one that begins after the poll for requests would outlast the next poll, and miss what another process has
 * committed and confirmed before the requests of that poll.
 */
export class SqliteReader implements Executor {
  readonly isRemote = false
  readonly background: SqliteBackground | undefined
  readonly #connection: SqliteConnection
  readonly #isShared: boolean
  #isOpen = false
  #isPinned = false
  #isOutdated: (() => boolean) | undefined
  #isChecked = false

  /** @param isShared whether other processes use the file */
  constructor(connection: SqliteConnection, background?: SqliteBackground, isShared = false) {
    this.background = background
    this.#connection = connection
    this.#isShared = isShared
  }

  all(statement: Statement): unknown[] {
    if (!this.#isOpen) this.#begin()
    else if (this.#isOutdated !== undefined && !this.#isChecked) this.#checkOutdated(this.#isOutdated)
    return this.#connection.all(statement)
  }

  raw(statement: Statement): RawResult {
    return this.#connection.raw(statement)
  }

  // The connection is read-only: SQLite throws.
  run(statement: Statement): number {
    return this.#connection.run(statement)
  }

  insert(insertion: Insertion, rows: unknown[][], first: number): number[] {
    return this.#connection.insert(insertion, rows, first)
  }

  /** Runs the cheapest read. */
  ping(): void {
    this.all({ text: 'SELECT 1 FROM sqlite_schema LIMIT 1', values: [] })
  }

  /**
   * Pins the current snapshot for all reads until {@link releaseSnapshot}, or until another process commits: reads after the
   * response to that commit must include it.
   *
   * @param isOutdated whether another process has committed, called once per event loop iteration; without it the snapshot
   * stays pinned
   */
  pinSnapshot(isOutdated?: () => boolean): void {
    // An open transaction may be older than the last commit of another process, and would be pinned as it is.
    if (!this.#isPinned) this.#end()
    this.ping()
    this.#isPinned = true
    this.#isOutdated = isOutdated
  }

  /** Lets further reads see all commits so far. */
  releaseSnapshot(): void {
    this.#isPinned = false
    this.#isOutdated = undefined
    this.#end()
  }

  close(): void {
    this.#isOpen = false
    this.#connection.close()
  }

  #begin(): void {
    this.#connection.exec('BEGIN')
    this.#isOpen = true
    if (this.#isShared) process.nextTick(this.#endIteration)
    else setImmediate(this.#endIteration)
  }

  // Once per event loop iteration is enough: its reads were requested before it began.
  #checkOutdated(isOutdated: () => boolean): void {
    if (isOutdated()) {
      this.releaseSnapshot()
      this.#begin()
      return
    }
    this.#isChecked = true
    setImmediate(() => {
      this.#isChecked = false
    })
  }

  readonly #endIteration = () => {
    if (!this.#isPinned) this.#end()
  }

  #end(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    // After some errors SQLite has ended the transaction itself.
    if (this.#connection.inTransaction) this.#connection.exec('COMMIT')
  }
}
