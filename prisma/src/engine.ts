import type { Database, WriteOptions } from './database.ts'
import type { Executor } from './sql-table.ts'

/** An open database below its tables: what runs their statements. */
export interface Engine extends Omit<Database, 'read' | 'replica' | 'write'> {
  /** Refuses to write. */
  read: Executor
  /** For reads that may be a little old: the next replica in rotation; absent where there are none. */
  replica?: () => Executor
  write<T>(work: (executor: Executor) => Promise<T>, options: WriteOptions): Promise<T>
}
