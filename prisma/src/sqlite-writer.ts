import type { Limits, Options } from './database.ts'
import { Broken, DISK_FAILED, isBusy } from './errors.ts'
import { inTime } from './guarded.ts'
import { whenUnlocked } from './lock.ts'
import { messageOf } from './migration-history.ts'
import type { Executor } from './sql-table.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { SqliteLog } from './sqlite-log.ts'
import { Turns } from './turns.ts'

const BEGIN = { text: 'BEGIN IMMEDIATE', values: [] }
const COMMIT = { text: 'COMMIT', values: [] }
const SAVE = { text: 'SAVEPOINT "write"', values: [] }
const KEEP = { text: 'RELEASE "write"', values: [] }
const UNDO = { text: 'ROLLBACK TO "write"', values: [] }

// What has been written so long is a bulk, or many: those that have come first should not wait for more.
const LONGEST_GROUP_MS = 5

// To ask how long the log is costs a small commit 3 %.
const COMMITS_A_LOOK = 16

/** Settles when what the writes of a group did is on disk, or is undone. */
type Group = PromiseWithResolvers<void> & { begunMs: number }

/**
 * Writes on one connection, one after another. Those that come together, before the event loop has come round, are one
 * transaction of the file and wait for the disk once (group commit). To each it looks like a transaction of its own: one
 * that throws is undone alone, and none is answered before all are on disk. Nor does the next group begin before: nothing
 * is built on what may not last.
 */
export class SqliteWriter {
  readonly #connection: SqliteConnection
  readonly #log: SqliteLog
  readonly #limits: Limits
  readonly #turns: Turns
  /** The group whose transaction is open. */
  #group: Group | undefined
  #isCheckpointing = false
  #commits = 0
  readonly #onWarning: NonNullable<Options['onWarning']>
  /** Why the last checkpoint failed, if it did: the same reason is reported once. */
  #checkpointFault: string | undefined
  #failure: Broken | undefined
  #isClosed = false

  constructor(
    connection: SqliteConnection,
    log: SqliteLog,
    limits: Limits,
    onWarning: NonNullable<Options['onWarning']> = () => {},
  ) {
    this.#connection = connection
    this.#log = log
    this.#limits = limits
    this.#onWarning = onWarning
    this.#turns = new Turns(limits.turnMs)
  }

  async write<T>(work: (executor: Executor) => Promise<T>): Promise<T> {
    this.check()
    await this.#turns.begin()
    let group: Group | undefined
    try {
      const isFirst = this.#group === undefined
      group = this.#group ?? (await this.#begin())
      return await this.#run(work, group, isFirst)
    } finally {
      if (group !== undefined && performance.now() - group.begunMs > LONGEST_GROUP_MS) await this.#commit(group)
      this.#turns.end()
      // A refusal waits, too: it may be for what another one of the group wrote.
      await group?.promise
    }
  }

  /** @throws Broken since the disk has failed: what SQLite has in memory may no longer be what is there */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  close(): void {
    this.#isClosed = true
    this.#turns.refuseAll(new Error('The database is closed.'))
    this.#connection.close()
  }

  async #begin(): Promise<Group> {
    await whenUnlocked(this.#limits.lockWaitMs, isBusy, () => this.#connection.run(BEGIN))
    const group = { ...Promise.withResolvers<void>(), begunMs: performance.now() }
    // Whoever waits for it hears of it, and may not wait yet.
    group.promise.catch(() => {})
    this.#group = group
    setImmediate(() => this.#commitInTurn(group))
    return group
  }

  async #run<T>(work: (executor: Executor) => Promise<T>, group: Group, isFirst: boolean): Promise<T> {
    // SQLite copies each page that changes within a savepoint. To undo the first write is to undo all there is.
    if (!isFirst) this.#connection.run(SAVE)
    try {
      const result = await inTime(this.#connection, this.#limits.writeMs, work)
      if (!isFirst) this.#connection.run(KEEP)
      return result
    } catch (error) {
      if (isFirst) this.#refuse(group)
      else this.#undo(group, error)
      throw error
    }
  }

  /** Undoes a group of one write. It may be refused for what another process has committed, which must be on disk first. */
  #refuse(group: Group): void {
    this.#group = undefined
    if (!this.#connection.inTransaction) {
      // SQLite has undone it by itself, for a reason of its own.
      group.resolve()
      return
    }
    const areOnDisk = this.#log.syncOthers()
    this.#connection.rollback()
    areOnDisk.then(group.resolve, (error) => this.#fail(group, error))
  }

  #undo(group: Group, error: unknown): void {
    if (this.#connection.inTransaction) {
      this.#connection.run(UNDO)
      this.#connection.run(KEEP)
    }
    // A full disk, for one, lets SQLite undo the whole transaction by itself.
    else this.#end(group, error)
  }

  /** Undoes what is open of a group; those that wait for it are told why. */
  #end(group: Group, error: unknown): void {
    this.#group = undefined
    this.#connection.rollback()
    if (error instanceof Broken) this.#fail(group, error)
    else group.reject(error)
  }

  #fail(group: Group, cause: unknown): void {
    this.#failure = new Broken(DISK_FAILED, { cause })
    this.#turns.refuseAll(this.#failure)
    group.reject(this.#failure)
  }

  // After those that were asked for by now.
  async #commitInTurn(group: Group): Promise<void> {
    try {
      await this.#turns.begin(Number.POSITIVE_INFINITY)
    } catch (error) {
      // A group that took long is committed by then, and its answer waits for the disk alone.
      if (this.#group === group) this.#end(group, error)
      return
    }
    await this.#commit(group)
    this.#turns.end()
  }

  /** In a turn, which lasts until the disk has all. */
  async #commit(group: Group): Promise<void> {
    if (this.#group !== group) return
    let isOnDisk: Promise<void>
    try {
      isOnDisk = this.#log.commit(() => this.#connection.run(COMMIT))
      this.#group = undefined
    } catch (error) {
      this.#end(group, error)
      return
    }
    try {
      await isOnDisk
      group.resolve()
    } catch (error) {
      this.#fail(group, error)
      return
    }
    if (++this.#commits % COMMITS_A_LOOK === 0) this.#checkpointIfLong()
  }

  async #checkpointIfLong(): Promise<void> {
    if (this.#isCheckpointing) return
    this.#isCheckpointing = true
    try {
      if (!this.#log.isLong) return
      await this.#log.checkpoint()
      // What has come meanwhile is little. While nobody writes, in other processes either, that is all there is.
      await this.#turns.begin(Number.POSITIVE_INFINITY)
      await this.#checkpointAlone().finally(() => this.#turns.end())
      this.#checkpointFault = undefined
    } catch (error) {
      // Nothing is lost but time: a later commit tries again, and so does who closes the file.
      this.#warnOfCheckpoint(error)
    } finally {
      this.#isCheckpointing = false
    }
  }

  #warnOfCheckpoint(error: unknown): void {
    const reason = messageOf(error)
    if (this.#isClosed || reason === this.#checkpointFault) return
    this.#checkpointFault = reason
    this.#onWarning('the write-ahead log could not be brought into the database file, and grows', error)
  }

  async #checkpointAlone(): Promise<void> {
    if (this.#group !== undefined) await this.#commit(this.#group)
    await whenUnlocked(this.#limits.lockWaitMs, isBusy, () => this.#connection.run(BEGIN))
    await this.#log.checkpoint().finally(() => this.#connection.rollback())
  }
}
