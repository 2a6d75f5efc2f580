import type { Limits, Options, WriteOptions, WriteTurns } from '../database.ts'
import { DISK_FAILED, DurabilityLost, isBusy, ReadOnly } from '../errors.ts'
import { messageOf } from '../migration-history.ts'
import { Slots } from '../slots.ts'
import type { Executor } from '../tables/executor.ts'
import { withDeadline } from '../tables/guarded.ts'
import type { SqliteConnection } from './connection.ts'
import { retryWhileLocked } from './lock.ts'
import type { Wal } from './wal.ts'

const PING_LIMIT_MS = 800

// A group open for this long has a bulk write or many writes. It commits, so that its first writes wait no longer.
const MAX_GROUP_MS = 5

// Reading the log's size costs 3 % of a small commit.
const COMMITS_PER_SIZE_CHECK = 16

// To find nothing to merge takes 0.3 ms, the time of some ten rows.
const ROWS_PER_MERGE = 1_000

/** Writes that share a commit. The promise settles when they are on disk or rolled back. */
type Group = PromiseWithResolvers<void> & {
  startMs: number
  /** Of a shared file, {@link SqliteConnection.changedRows} at its start; undefined once one of its writes was rolled back. */
  changedRows: number | undefined
}

/**
 * Serializes writes on one connection. Writes that arrive in the same event loop iteration share one SQLite transaction and
 * one sync to disk (group commit). Each behaves like its own transaction: an error rolls back that write only, or the whole
 * group, whose other writes then fail too. None resolves before all are on disk. The next group does not start before that
 * either, so no write depends on data that may be lost.
 */
export class SqliteWriter {
  readonly #connection: SqliteConnection
  readonly #wal: Wal
  readonly #limits: Limits
  readonly #queue: Slots
  /** The group with the open transaction. */
  #group: Group | undefined
  #isMaintaining = false
  #commits = 0
  /** {@link SqliteConnection.changedRows} at the last merge of the search indexes. */
  #mergedRows = 0
  readonly #onWarning: NonNullable<Options['onWarning']>
  readonly #turns: WriteTurns | undefined
  /** The last failure that was reported. A repeated one is reported once. */
  #reported: string | undefined
  #failure: DurabilityLost | undefined
  #isClosed = false

  constructor(
    connection: SqliteConnection,
    wal: Wal,
    limits: Limits,
    onWarning: NonNullable<Options['onWarning']> = () => {},
    turns?: WriteTurns,
  ) {
    this.#connection = connection
    this.#wal = wal
    this.#limits = limits
    this.#onWarning = onWarning
    this.#turns = turns
    this.#queue = new Slots(1, { maxWaitMs: limits.queueTimeoutMs })
  }

  async write<T>(
    work: (executor: Executor) => Promise<T>,
    { caller, autocommit = false, isLarge = false }: WriteOptions = {},
  ): Promise<T> {
    this.check()
    await this.#queue.acquire(caller)
    let beginMs = 0
    let group: Group | undefined
    try {
      if (isLarge && this.#group !== undefined) await this.#commit(this.#group)
      const isFirst = this.#group === undefined
      group = this.#group ?? (await this.#begin())
      // The wait for other processes costs the caller no turns.
      beginMs = performance.now()
      return await this.#run(work, group, isFirst, autocommit)
    } finally {
      if (group !== undefined && performance.now() - group.startMs > MAX_GROUP_MS) await this.#commit(group)
      this.#release(caller, group === undefined ? 0 : performance.now() - beginMs)
      // An error waits for the disk as well: it may be caused by another write of the group.
      await group?.promise
    }
  }

  /** @throws DurabilityLost after the disk failed: SQLite's memory may then differ from the disk */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  /**
   * Checks whether a write can begin.
   *
   * @throws ReadOnly while another process holds the lock; DurabilityLost after the disk failed
   */
  async ping(): Promise<void> {
    this.check()
    const version = this.#wal.othersVersion
    try {
      await retryWhileLocked(PING_LIMIT_MS, isBusy, () => {
        // This process has the lock.
        if (this.#connection.inTransaction) return
        this.#connection.exec('BEGIN IMMEDIATE')
        this.#connection.rollback()
      })
    } catch (error) {
      if (!isBusy(error) || this.#wal.othersVersion !== version) return
      throw new ReadOnly('another process holds the lock of the file', { cause: error })
    }
  }

  close(): void {
    this.#isClosed = true
    this.#queue.rejectAll(new Error('The database is closed.'))
    this.#connection.close()
  }

  async #begin(): Promise<Group> {
    await this.#lock()
    const changedRows = this.#wal.isShared ? this.#connection.changedRows : undefined
    const group: Group = { ...Promise.withResolvers<void>(), startMs: performance.now(), changedRows }
    // Prevents an unhandled rejection: the writes of the group may not await it yet.
    group.promise.catch(() => {})
    this.#group = group
    setImmediate(() => this.#commitQueued(group))
    return group
  }

  async #run<T>(
    work: (executor: Executor) => Promise<T>,
    group: Group,
    isFirst: boolean,
    autocommit: boolean,
  ): Promise<T> {
    // In a savepoint SQLite copies each changed page, and it writes the search entries of each row by themselves. The first
    // write needs none: it can roll back the whole transaction. A single statement that fails has changed nothing.
    const hasSavepoint = !isFirst && !autocommit
    if (hasSavepoint) this.#connection.exec('SAVEPOINT "write"')
    const { changedRows } = this.#connection
    try {
      const result = await withDeadline(this.#connection, this.#limits.writeTimeoutMs, work)
      if (hasSavepoint) this.#connection.exec('RELEASE "write"')
      return result
    } catch (error) {
      if (isFirst) this.#rollBackGroup(group)
      // After some errors, such as a full disk, SQLite has rolled back the whole transaction.
      else if (!this.#connection.inTransaction) this.#abort(group, error)
      else if (hasSavepoint) this.#rollBackWrite(group)
      // For example, the audit entry of the row could not be stored.
      else if (this.#connection.changedRows > changedRows) this.#abort(group, error)
      throw error
    }
  }

  /** Rolls back a group of one write. A commit of another process may be the cause of its error, and must be on disk first. */
  #rollBackGroup(group: Group): void {
    this.#group = undefined
    if (!this.#connection.inTransaction) {
      // SQLite has already rolled the transaction back after an error.
      group.resolve()
      return
    }
    const synced = this.#wal.syncOthers()
    this.#connection.rollback()
    synced.then(group.resolve, (error) => this.#fail(group, error))
  }

  #rollBackWrite(group: Group): void {
    group.changedRows = undefined
    this.#connection.exec('ROLLBACK TO "write"')
    this.#connection.exec('RELEASE "write"')
  }

  /** Rolls back the open transaction and rejects the writes of the group. */
  #abort(group: Group, error: unknown): void {
    this.#group = undefined
    this.#connection.rollback()
    if (error instanceof DurabilityLost) this.#fail(group, error)
    else group.reject(error)
  }

  #fail(group: Group, cause: unknown): void {
    this.#failure = new DurabilityLost(DISK_FAILED, { cause })
    this.#queue.rejectAll(this.#failure)
    group.reject(this.#failure)
  }

  /** Commits after the writes that are already queued. */
  async #commitQueued(group: Group): Promise<void> {
    try {
      await this.#queue.acquire('', Number.POSITIVE_INFINITY)
    } catch (error) {
      // A long group is already committed; its response only waits for the disk.
      if (this.#group === group) this.#abort(group, error)
      return
    }
    await this.#commit(group)
    this.#release()
  }

  /** The caller holds the write queue until the commit is on disk. */
  async #commit(group: Group): Promise<void> {
    if (this.#group !== group) return
    let synced: Promise<void>
    const hasWritten = group.changedRows !== undefined && group.changedRows < this.#connection.changedRows
    try {
      synced = this.#wal.commit(() => this.#connection.exec('COMMIT'), hasWritten)
      this.#group = undefined
    } catch (error) {
      this.#abort(group, error)
      return
    }
    try {
      await synced
      group.resolve()
    } catch (error) {
      this.#fail(group, error)
      return
    }
    const isChecked = ++this.#commits % COMMITS_PER_SIZE_CHECK === 0
    if (isChecked || this.#connection.changedRows - this.#mergedRows >= ROWS_PER_MERGE) this.#maintain()
  }

  /** Merges the search indexes and checkpoints the log, if needed. No data is lost if it fails: a later commit retries. */
  async #maintain(): Promise<void> {
    if (this.#isMaintaining) return
    this.#isMaintaining = true
    let failure = 'the merge of the search indexes failed; searches slow down'
    try {
      if (!(await this.#mergeSearchIndexes())) return
      failure = 'the checkpoint of the write-ahead log failed; the log keeps growing'
      await this.#wal.checkpoint()
      // The second checkpoint has little left to copy. It blocks writes of all processes, so it completes and the log restarts.
      await this.#alone(() => this.#checkpointExclusively())
      this.#reported = undefined
    } catch (error) {
      // Not with the next commit.
      this.#mergedRows = this.#connection.changedRows
      this.#report(failure, error)
    } finally {
      this.#isMaintaining = false
    }
  }

  /** Merges the search indexes if enough rows have changed, until the log is long. @returns whether it is */
  async #mergeSearchIndexes(): Promise<boolean> {
    const { changedRows } = this.#connection
    let isMore = changedRows - this.#mergedRows >= ROWS_PER_MERGE
    // Between two transactions: inside one, SQLite refuses to tell the length.
    let isLong = this.#wal.needsCheckpoint
    while (isMore && !isLong) {
      await this.#alone(async () => {
        isMore = await this.#wal.mergeSearchIndexes()
        isLong = this.#wal.needsCheckpoint
      })
      if (!isMore) this.#mergedRows = changedRows
    }
    return isLong
  }

  /** Takes the lock of the file: at once, or in turn if other processes want it as well. */
  async #lock(): Promise<void> {
    const { lockTimeoutMs } = this.#limits
    const begin = () => this.#connection.exec('BEGIN IMMEDIATE')
    try {
      if (!this.#turns?.isTaken()) return begin()
    } catch (error) {
      if (!isBusy(error)) throw error
    }
    await this.#turns?.take(lockTimeoutMs)
    await retryWhileLocked(lockTimeoutMs, isBusy, begin)
  }

  /** Lets the next write of this process begin. It is chosen when the turn of the process comes, not while others write. */
  #release(caller?: string, usedMs?: number): void {
    const release = () => this.#queue.release(caller, usedMs)
    const turn = this.#group === undefined && this.#turns?.pass(this.#queue.waiting > 0, this.#limits.lockTimeoutMs)
    if (turn) turn.then(release)
    else release()
  }

  /** Runs work between two commits, while no other write of this process runs. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    await this.#queue.acquire('', Number.POSITIVE_INFINITY)
    try {
      if (this.#isClosed) throw new Error('The database is closed.')
      if (this.#group !== undefined) await this.#commit(this.#group)
      await this.#turns?.take(this.#limits.lockTimeoutMs)
      return await work()
    } finally {
      this.#release()
    }
  }

  #report(failure: string, error: unknown): void {
    const report = `${failure}: ${messageOf(error)}`
    if (this.#isClosed || report === this.#reported) return
    this.#reported = report
    this.#onWarning(failure, error)
  }

  async #checkpointExclusively(): Promise<void> {
    await retryWhileLocked(this.#limits.lockTimeoutMs, isBusy, () => this.#connection.exec('BEGIN IMMEDIATE'))
    await this.#wal.checkpoint().finally(() => this.#connection.rollback())
  }
}
