import type { PrismaModels } from './prisma.ts'
import type { AuditContext, RecordedChange } from './tables/audit.ts'
import type { Tables } from './tables/declarations.ts'
import type { Around, Executor } from './tables/executor.ts'

/** The tables, and Prisma's client on the same transaction. */
export type TablesAndPrisma = Tables & {
  /**
   * Prisma's typed client with its relations and aggregates, for queries that the tables do not express. Inside a write it
   * is part of the transaction. Changes of audited models are refused, because Prisma would not audit them. It is loaded when it
   * is first used; a write that uses it first runs twice. Ids of audit entries are `bigint` on PostgreSQL.
   */
  prisma(): Promise<PrismaModels>
}

export interface Database {
  /** Read-only tables. Reads see the last committed state, never an open transaction. */
  read: TablesAndPrisma
  /**
   * Runs `work` in one transaction. Returns its result when the transaction is on disk; an error rolls everything back. A
   * write inside another write deadlocks until the timeout: pass `tx` on instead.
   *
   * On SQLite writes run one after another. On PostgreSQL they run concurrently, and the writing statement itself must
   * decide the write: by a condition or a unique index. A write that loses a conflict is retried, so `work` must have no
   * side effects outside `tx`. After a failed statement the transaction accepts no further ones, unless the statement is part
   * of an {@link WriteControl.attempt}.
   *
   * @throws any error of `work`, and an error for which {@link isBusy} is true when a timeout of the {@link Limits} expires
   * or the database is unreachable
   */
  write<T>(work: (tx: TablesAndPrisma, control: WriteControl) => Promise<T>, options?: WriteOptions): Promise<T>
  /** How many rows a write may change without a noticeable wait of others. */
  stepRows: number
  /** On PostgreSQL: the connections of the pool, and the number of queries that wait for one. */
  connections?(): { busy: number; idle: number; waiting: number }
  /** Whether work of the caller fails because too much of it waits: for a connection to PostgreSQL, or for other long reads. */
  isOverloaded(caller: string): boolean
  /**
   * Checks within a second whether the database serves reads and writes, whatever else it does.
   *
   * @throws ReadOnly if it serves reads alone; any other error if it serves none
   */
  ping(): Promise<void>
  /** What a reader of the audit log in its order must know of other writes. */
  following: Following
  /** Calls `listener` after each write of this process; undefined ends that. */
  onWritten(listener: (() => void) | undefined): void
  /** Closes the file or the connections. An open write is rolled back; on PostgreSQL this may wait for it instead. */
  close(): Promise<void>
}

interface Following {
  /** On SQLite: changes when another process commits. */
  othersVersion?(): unknown
  /** On SQLite: resolves when what was read before is on disk. Otherwise a power failure could undo what was published. */
  settled?(): Promise<void>
  /**
   * On PostgreSQL: the open transactions that have written to the audit log. Ids that were missing in an earlier statement, and of
   * which none of these transactions is still open, are never used.
   *
   * @throws ReadOnly on a standby, which does not know them
   */
  writers?(): Promise<string[]>
}

export interface WriteControl {
  /**
   * Runs a part of the write. If it fails, only its changes are undone, its error is thrown, and the write can continue.
   * Attempts may be nested, but not run at the same time. Not for `autocommit`.
   */
  attempt<T>(work: () => Promise<T>): Promise<T>
  /** The changes of audited records so far, in their order, if the write records them. */
  changes: readonly RecordedChange[]
}

export interface WriteOptions {
  /** Callers whose writes wait take turns; writes without a caller are those of one. */
  caller?: string | undefined
  /** Writes with the same key run one after another on every engine; each sees the result of the previous one. */
  lockKey?: string | undefined
  /**
   * Declares that the work writes at most one row, and throws no error after it. On PostgreSQL that statement is then the
   * transaction, which saves two round trips, and a second write is an error. On SQLite it needs no savepoint.
   */
  autocommit?: boolean | undefined
  /**
   * Whether it may take longer than a few milliseconds. On SQLite, writes before it are then committed first. On PostgreSQL, such
   * writes and dry runs of one caller run one after another, and only some at once.
   */
  isLarge?: boolean | undefined
  /** Audits the changes, in the same transaction; no audit entries when absent. */
  audit?: AuditContext | undefined
  /** Whether to record the audited changes; not for `autocommit`. */
  records?: boolean | undefined
  /** Whether `work` always fails, so that nothing is written: new records then have negative ids, and none are used up. */
  isDryRun?: boolean | undefined
}

/** Timeouts of a write in ms, after which it fails as busy. */
export interface Limits {
  /** Wait in the write queue, on PostgreSQL in that of the same lock key; default 10,000. */
  queueTimeoutMs: number
  /** Wait for the lock of another process, on SQLite only; default 5,000. */
  lockTimeoutMs: number
  /** The work itself; default 30,000. */
  writeTimeoutMs: number
}

export interface PoolSettings {
  /** Maximum number of connections; default 10. */
  poolSize?: number | undefined
  /** How long a query waits for a free or new connection, in ms; default 5,000. */
  connectTimeoutMs?: number | undefined
  /** Timeout of a statement in ms; default 30,000, 0 disables it. */
  statementTimeoutMs?: number | undefined
}

/** The turns of processes that write to one SQLite file. They keep the order only: the lock of the file excludes the others. */
export interface WriteTurns {
  /** Whether another process has the turn. */
  isTaken(): boolean
  /** Resolves when this process has the turn, or after `timeoutMs`. */
  take(timeoutMs: number): Promise<void>
  /**
   * Ends a turn that was long enough, or that is not needed.
   *
   * @param isMore whether more writes wait: then this process wants another turn
   * @returns resolves when it has the turn, or after `timeoutMs`; undefined if the next write need not wait
   */
  pass(isMore: boolean, timeoutMs: number): Promise<void> | undefined
}

export interface Options extends Partial<Limits>, PoolSettings {
  /**
   * Whether other processes serve the same SQLite file; default false. If so, a commit blocks the event loop until it is on
   * disk. Otherwise another process could return data that a power failure undoes.
   */
  isShared?: boolean
  /** With `isShared`: the turns of these processes. Without them each takes the lock when it finds it free. */
  writeTurns?: WriteTurns | undefined
  /** Whether the SQLite file must exist; default false. A process that joins others must not create another file. */
  mustExist?: boolean
  /** Whether to accept databases that speak the protocol of PostgreSQL but are not it; default false. */
  allowUntested?: boolean
  /** Called when a background task fails and will be retried, and at start when searches have no index. */
  onWarning?: (message: string, error?: unknown) => void
  /** Wraps each query of a table, and each transaction including its wait in the queue. */
  around?: Around | undefined
}

/** An open database: runs the statements of the tables. */
export interface Engine extends Omit<Database, 'read' | 'write' | 'onWritten'> {
  /** Read-only. */
  read: Executor
  write<T>(work: (executor: Executor) => Promise<T>, options: WriteOptions): Promise<T>
}
