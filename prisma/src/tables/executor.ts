import type { Insertion, Statement } from './sql.ts'

export type Awaitable<T> = T | Promise<T>

/** Rows as arrays: the columns of a query may have the same name. */
export interface RawResult {
  /** `type`: as SQLite declares it, null for an expression; or PostgreSQL's number of a type. */
  columns: { name: string; type: string | number | null }[]
  rows: unknown[][]
  /** The number of rows read or written. */
  count: number
}

/** Runs SQL with `?` placeholders on one connection. Accepts dates and booleans, but may return them as numbers. */
export interface Executor {
  /** Whether statements are round trips to a server: fewer statements are then better, and none blocks the event loop. */
  readonly isRemote: boolean
  /** Whether a foreign key error identifies which of several rows violates the constraint. */
  readonly namesRow?: boolean | undefined
  /** The limit of a search without an index: see {@link ListTable.searchLimit}. */
  readonly searchLimit?: number | undefined
  /** While statements wait for a connection: the key for fairness of the current caller, in whose queue a statement waits; else ''. */
  readonly queuedCaller?: (() => string) | undefined
  /** Runs a long read: in a queue that is fair between callers, and on SQLite outside of the event loop. */
  readonly background?: Pick<Executor, 'all' | 'raw'> | undefined
  all(statement: Statement): Awaitable<unknown[]>
  /** @returns the number of rows written */
  run(statement: Statement): Awaitable<number>
  /** Runs a statement of Prisma Client, with placeholders in the form of the engine. */
  raw(statement: Statement): Awaitable<RawResult>
  /**
   * @param rows the values of each row, in the order of the insertion's columns
   * @param first the index of the first row among all rows of the insert
   * @param transform extends the statement; `returning` lists the columns that it must return
   * @returns the ids in the order of the rows
   * @throws UniqueViolation with the index of the first violating row
   */
  insert(
    insertion: Insertion,
    rows: unknown[][],
    first: number,
    transform?: (statement: Statement, returning: string) => Statement,
  ): Awaitable<number[]>
}

/**
 * Wraps a database operation, for example to measure it.
 *
 * @param operation for example `find`, `insertMany`, `transaction`
 * @param table for example `users`; empty for a transaction
 */
export type Around = <T>(operation: string, table: string, run: () => Promise<T>) => Promise<T>
