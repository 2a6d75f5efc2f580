import type { Tables } from '../tables.ts'

/** A way to the tables: by statements of our own, or through Prisma. */
export interface Access {
  read: Tables
  /**
   * Runs `work` in one transaction, once.
   *
   * @param lock Held until the transaction's end: a number of 64 bits.
   * @throws Conflict when the transaction lost against another one
   */
  transaction<T>(work: (tx: Tables) => Promise<T>, lock: bigint | undefined): Promise<T>
  /** Runs `work`, whose only statement that writes is a transaction by itself; absent where each write takes one of its own. */
  single?<T>(work: (tx: Tables) => Promise<T>): Promise<T>
  close(): Promise<void>
}
