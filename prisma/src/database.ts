import type { AuditContext } from './audit.ts'
import type { Around } from './sql-table.ts'
import type { Tables } from './tables.ts'

export interface Database {
  /** Reads see the last committed state, never the inside of a write. To write here is refused. */
  read: Tables
  /**
   * For reads that may be a little old: the tables of one replica, each time of the next one, where there are replicas
   * in order, and else `read`. What decides a write, and what must show its caller's own writes, is read from `read`.
   */
  replica(): Tables
  /**
   * Runs `work` in one transaction. What it returns is returned once it is on disk; when it throws, nothing it wrote
   * remains. A write started inside another one waits for it in vain: pass `tx` on.
   *
   * On SQLite writes run one after another. On PostgreSQL they run side by side, and what decides a write must be its
   * own statement: a condition, or a unique index. A write that loses against another one runs again, so `work` must
   * have no effect but through `tx`; and after a statement that failed it can do nothing more.
   *
   * @throws What `work` throws, and an error that {@link isBusy} knows when the turn does not come or the work does not
   * end within the {@link Limits}, or the database cannot be reached.
   */
  write<T>(work: (tx: Tables) => Promise<T>, options?: WriteOptions): Promise<T>
  /** On PostgreSQL: the connections of the pool, and the queries that wait for one. */
  connections?(): { busy: number; idle: number; waiting: number }
  /** On PostgreSQL: whether a query, wherever it is sent, would have to wait for a connection for too long, and so fails. */
  isCrowded?(): boolean
  /** Throws when the database does not answer. */
  ping(): Promise<void>
  /** Lets go of the file or the connections. A write that is still open is undone or, on PostgreSQL, may be waited for. */
  close(): Promise<void>
}

export interface WriteOptions {
  /** A name: writes of one name run one after another on every engine, each seeing what the one before did. */
  lockKey?: string | undefined
  /**
   * Whether the work writes at most once, by one method of one table other than `insertMany`. On PostgreSQL that statement
   * is the transaction, and the two journeys around it are spared; a second one is refused.
   */
  autocommit?: boolean | undefined
  /** What the audit log records of the changes, in the same transaction; nothing when absent. */
  audit?: AuditContext | undefined
}

/** How long a write may take before it fails as busy, in ms. */
export interface Limits {
  /** Waiting for the writes before it, on PostgreSQL those of the same name; 10,000. */
  turnMs: number
  /** On SQLite, waiting for another process's write; 5,000. */
  lockWaitMs: number
  /** Its own work; 30,000. */
  writeMs: number
}

export interface PoolSettings {
  /** Connections at most, 10 when absent. */
  poolSize?: number | undefined
  /** How long a query waits for a connection to become free or to be made, in ms; 5,000 when absent. */
  connectTimeoutMs?: number | undefined
  /** After how many ms a statement is cut off, 30,000 when absent; 0 means never. */
  statementTimeoutMs?: number | undefined
}

export interface ReplicaSettings {
  /** Streaming replicas of the database, as URLs of the same form; none when absent. */
  replicaUrls?: string[] | undefined
  /** How old what a replica shows may be, in ms; 5,000 when absent. */
  replicaLagMs?: number | undefined
  /** Told when a replica begins to serve reads, and when it does not, with the reason. */
  onReplica?: ((change: ReplicaChange) => void) | undefined
}

export interface ReplicaChange {
  /** `postgresql://host:5432/database` */
  replica: string
  serves: boolean
  reason?: string
}

export interface Options extends Partial<Limits>, PoolSettings, ReplicaSettings {
  /** How the tables are reached: by prepared statements of our own, or through Prisma alone; `prepared`. */
  driver?: 'prepared' | 'prisma'
  /**
   * Whether other processes serve the same SQLite file; false when absent. Then a commit waits for the disk in the event
   * loop, so that none of them answers with what a power cut could take back.
   */
  isShared?: boolean
  /** Called when something failed that concerns no caller and is tried again. */
  onWarning?: (message: string, error: unknown) => void
  /** Runs each query of a table, and each transaction with the wait for its turn. */
  around?: Around | undefined
}
