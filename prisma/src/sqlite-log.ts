import { once } from 'node:events'
import { type FileHandle, open } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { SqliteReader } from './sqlite-reader.ts'

// Some 16 MB, four times SQLite's own: each time the log begins anew, its head goes to disk in the event loop.
const LONG_PAGES = 4_000

const VERSION = { text: 'PRAGMA data_version', values: [] }
const MEASURE = { text: 'PRAGMA wal_checkpoint(NOOP)', values: [] }

/**
 * The write-ahead log of a SQLite file, on its way to the disk and back into the file. Both take as long as the disk
 * does, a second on a bad day, and SQLite would do them in the event loop; here they are done beside it.
 */
export class SqliteLog {
  readonly #file: string
  readonly #writer: SqliteConnection
  readonly #reader: SqliteReader
  readonly #isShared: boolean
  #log: Promise<FileHandle> | undefined
  /** What {@link #othersVersion} was when all that others had committed was on disk. */
  #syncedVersion: unknown
  #thread: Worker | undefined

  /**
   * @param writer leaves the disk to this log, unless the log is shared
   * @param reader whose reads are to see what is on disk alone
   * @param isShared whether other processes write to it, too. What this process has committed they must not see before it
   * is on disk, and SQLite sees to that in the commit: the event loop waits for the disk.
   */
  constructor(file: string, writer: SqliteConnection, reader: SqliteReader, isShared = false) {
    this.#file = file
    this.#writer = writer
    this.#reader = reader
    this.#isShared = isShared
  }

  /**
   * Runs `commit`, and settles when what was committed is on disk. Reads of this process see it from then on, or as soon as
   * another process has committed after it: what follows from its answers must not be hidden.
   *
   * @param commit what it throws is thrown at once, not by the promise
   * @returns rejects when the disk failed. Whether what was committed will be found there nobody knows then, and reads
   * go on without it.
   */
  commit(commit: () => void): Promise<void> {
    if (this.#isShared) {
      commit()
      this.#reader.release()
      return Promise.resolve()
    }
    const version = this.#othersVersion
    this.#reader.hold(() => this.#othersVersion !== version)
    try {
      commit()
    } catch (error) {
      this.#reader.release()
      throw error
    }
    return this.#settle(version)
  }

  async #settle(version: unknown): Promise<void> {
    try {
      await this.sync()
      this.#syncedVersion = version
    } catch (error) {
      this.#reader.hold()
      throw error
    }
    this.#reader.release()
  }

  /** Another one after each commit of any connection but the writer's. */
  get #othersVersion(): unknown {
    const [row] = this.#writer.all(VERSION) as [{ data_version: number }]
    return row.data_version
  }

  /**
   * Settles when what other processes have committed by now is on disk, which takes no time unless one has. To be called
   * in a transaction that may write.
   */
  async syncOthers(): Promise<void> {
    if (this.#isShared) return
    const version = this.#othersVersion
    if (version === this.#syncedVersion) return
    await this.sync()
    this.#syncedVersion = version
  }

  /** Settles when all that the log has by now is on disk, of other processes too. */
  async sync(): Promise<void> {
    this.#log ??= open(`${this.#file}-wal`, 'r+')
    await (await this.#log).datasync()
  }

  /** Whether it is time for a {@link checkpoint}. */
  get isLong(): boolean {
    const [{ log, checkpointed }] = this.#writer.all(MEASURE) as [{ log: number; checkpointed: number }]
    return log - checkpointed > LONG_PAGES
  }

  /** Brings into the file what the log has by now; one at a time. When that was all there is, the log begins anew. */
  async checkpoint(): Promise<void> {
    this.#thread ??= this.#startThread()
    this.#thread.postMessage('checkpoint')
    const [error] = (await once(this.#thread, 'message')) as [Error | undefined]
    if (error !== undefined) throw error
  }

  /** After the connections. */
  async close(): Promise<void> {
    if (this.#thread !== undefined) {
      this.#thread.ref()
      this.#thread.postMessage('close')
      await once(this.#thread, 'exit')
    }
    const log = await this.#log
    await log?.close()
  }

  #startThread(): Worker {
    const thread = new Worker(new URL('sqlite-checkpoints.mjs', import.meta.url), { workerData: this.#file })
    thread.once('exit', () => {
      this.#thread = undefined
    })
    thread.unref()
    return thread
  }
}
