import type { Executor } from '../sql-table.ts'

/** Runs statements on PostgreSQL: as prepared statements of this package, or through Prisma Client. */
export interface Driver {
  /** Each statement is its own transaction. */
  executor: Executor
  /**
   * Runs `work` in one transaction, once.
   *
   * @param lock id of an advisory lock (64 bits), held until the end of the transaction
   * @throws Conflict when the transaction conflicts with another one
   */
  transaction<T>(work: (executor: Executor) => Promise<T>, lock: bigint | undefined): Promise<T>
  close(): Promise<void>
}
