import type { Database, WriteOptions } from './database.ts'
import type { Executor } from './tables/executor.ts'

/** An open database: runs the statements of the tables. */
export interface Engine extends Omit<Database, 'read' | 'write'> {
  /** Read-only. */
  read: Executor
  write<T>(work: (executor: Executor) => Promise<T>, options: WriteOptions): Promise<T>
}
