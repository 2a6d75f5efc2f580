import type { Executor } from '../sql-table.ts'

/** A way to the database: by statements of our own, or through Prisma. */
export interface Driver {
  /** Each of its statements is a transaction by itself. */
  executor: Executor
  /**
   * Runs `work` in one transaction, once.
   *
   * @param lock Held until the transaction's end: a number of 64 bits.
   * @throws Conflict when the transaction lost against another one
   */
  transaction<T>(work: (executor: Executor) => Promise<T>, lock: bigint | undefined): Promise<T>
  close(): Promise<void>
}
