import type { Executor } from './sql-table.ts'
import type { Insertion, Statement } from './sql-text.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

const BEGIN = { text: 'BEGIN', values: [] }
const LOOK = { text: 'SELECT 1 FROM sqlite_schema LIMIT 1', values: [] }
const COMMIT = { text: 'COMMIT', values: [] }

/**
 * Reads on one connection. Those of one round of the event loop are one read transaction, for to begin and to end one
 * takes SQLite three calls of the system, a third of what a row by its id costs. A write that is answered in between
 * ends it, so that whoever has the answer reads what was written.
 */
export class SqliteReader implements Executor {
  readonly isRemote = false
  readonly #connection: SqliteConnection
  #isOpen = false
  #isHeld = false
  #isOutdated: (() => boolean) | undefined
  #isLookedAfter = false

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  all(statement: Statement): unknown[] {
    if (!this.#isOpen) this.#begin()
    else if (this.#isOutdated !== undefined && !this.#isLookedAfter) this.#lookAfter(this.#isOutdated)
    return this.#connection.all(statement)
  }

  // Nothing is written here: SQLite says so.
  run(statement: Statement): number {
    return this.#connection.run(statement)
  }

  insert(insertion: Insertion, rows: unknown[][], first: number): number[] {
    return this.#connection.insert(insertion, rows, first)
  }

  /** Reads what costs least. */
  look(): void {
    this.all(LOOK)
  }

  /**
   * From now on reads see what they would see now, until {@link release}, or until another process has committed: whoever
   * has its answer reads what it wrote.
   *
   * @param isOutdated whether another process has, asked once a round; without it they stay so whoever commits
   */
  hold(isOutdated?: () => boolean): void {
    // A transaction that is open may be older than the last commit of another process, and stay so for the whole time.
    if (!this.#isHeld) this.#end()
    this.look()
    this.#isHeld = true
    this.#isOutdated = isOutdated
  }

  /** From now on reads see what has been committed by now. */
  release(): void {
    this.#isHeld = false
    this.#isOutdated = undefined
    this.#end()
  }

  close(): void {
    this.#isOpen = false
    this.#connection.close()
  }

  #begin(): void {
    this.#connection.run(BEGIN)
    this.#isOpen = true
    setImmediate(this.#endRound)
  }

  // What is read in this round was asked for before it began, so once is enough.
  #lookAfter(isOutdated: () => boolean): void {
    if (isOutdated()) {
      this.release()
      this.#begin()
      return
    }
    this.#isLookedAfter = true
    setImmediate(() => {
      this.#isLookedAfter = false
    })
  }

  readonly #endRound = () => {
    if (!this.#isHeld) this.#end()
  }

  #end(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    // Some errors let SQLite end it by itself.
    if (this.#connection.inTransaction) this.#connection.run(COMMIT)
  }
}
