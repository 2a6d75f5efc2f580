import { type FileHandle, open } from 'node:fs/promises'
import { DISK_FAILED, DurabilityLost } from '../errors.ts'
import { declarations } from '../tables/declarations.ts'
import { quote } from '../tables/sql.ts'
import type { SqliteConnection } from './connection.ts'
import type { SqliteReader } from './reader.ts'
import { SqliteThread } from './thread.ts'

// About 16 MB, four times SQLite's default: each time the log restarts, its header is synced in the event loop.
const CHECKPOINT_PAGES = 4_000

// A unit of work, after which other writes get their turn. A frequent trigram is merged at once, whatever its size.
const MERGED_PAGES = 64
const SEARCH_INDEXES = Object.values(declarations).flatMap(({ name, search }) =>
  search.length > 0 ? [quote(`${name}_search`)] : [],
)

/**
 * Syncs and checkpoints the write-ahead log of a SQLite file, and merges its search indexes, outside the event loop. All can
 * take up to a second on a slow disk, and SQLite would block the event loop meanwhile.
 */
export class Wal {
  readonly #file: string
  readonly #writer: SqliteConnection
  readonly #reader: SqliteReader
  readonly isShared: boolean
  #handle: Promise<FileHandle> | undefined
  /** The {@link othersVersion} up to which all commits of other connections are on disk. */
  #syncedVersion: unknown
  #thread: SqliteThread | undefined
  /** The sync of the last commit. */
  #syncing = Promise.resolve()

  /**
   * @param writer does not sync its commits, unless `isShared` is set
   * @param reader must only see data that is on disk
   * @param isShared whether other processes use the file. They must not see commits of this process that are not on disk, so
   * SQLite syncs in the commit and blocks the event loop. A process that was started apart may still commit without a sync.
   */
  constructor(file: string, writer: SqliteConnection, reader: SqliteReader, isShared = false) {
    this.#file = file
    this.#writer = writer
    this.#reader = reader
    this.isShared = isShared
  }

  /**
   * Runs `commit`, and resolves when the commit is on disk. Reads of this process see it from then on, or as soon as another
   * process has committed after it: reads must include every commit that another process has already confirmed.
   *
   * @param commit its errors are thrown synchronously
   * @param hasWritten whether the transaction changed a row: SQLite syncs no other one in the commit. Only for a shared file
   * @returns rejects when the disk fails. The commit may or may not be on disk then, and reads do not include it.
   */
  commit(commit: () => void, hasWritten: boolean): Promise<void> {
    const version = this.othersVersion
    if (this.isShared) {
      commit()
      this.#reader.releaseSnapshot()
      if (hasWritten) this.#syncedVersion = version
      return this.#syncUpTo(version)
    }
    this.#reader.pinSnapshot(() => this.othersVersion !== version)
    try {
      commit()
    } catch (error) {
      this.#reader.releaseSnapshot()
      throw error
    }
    this.#syncing = this.#syncCommit(version)
    return this.#syncing
  }

  /**
   * Resolves when all commits of this process so far are on disk.
   *
   * @throws DurabilityLost when the disk failed
   */
  async synced(): Promise<void> {
    try {
      await this.#syncing
    } catch (error) {
      throw new DurabilityLost(DISK_FAILED, { cause: error })
    }
  }

  async #syncCommit(version: unknown): Promise<void> {
    try {
      await this.sync()
      this.#syncedVersion = version
    } catch (error) {
      this.#reader.pinSnapshot()
      throw error
    }
    this.#reader.releaseSnapshot()
  }

  /** Changes with each commit of a connection other than the writer's. */
  get othersVersion(): unknown {
    const [row] = this.#writer.all({ text: 'PRAGMA data_version', values: [] }) as [{ data_version: number }]
    return row.data_version
  }

  /** Resolves when all commits of other processes that were read before are on disk; at once if there are none. */
  syncOthers(): Promise<void> {
    return this.#syncUpTo(this.othersVersion)
  }

  async #syncUpTo(version: unknown): Promise<void> {
    if (version === this.#syncedVersion) return
    await this.sync()
    this.#syncedVersion = version
  }

  /** Resolves when the current content of the log is on disk, including commits of other processes. */
  async sync(): Promise<void> {
    // A failure is not kept: the next sync tries again.
    this.#handle ??= open(`${this.#file}-wal`, 'r+').catch((error: unknown) => {
      this.#handle = undefined
      throw error
    })
    await (await this.#handle).datasync()
  }

  /** Whether the log is long enough for a {@link checkpoint}. */
  get needsCheckpoint(): boolean {
    const [size] = this.#writer.all({ text: 'PRAGMA wal_checkpoint(NOOP)', values: [] })
    const { log, checkpointed } = size as { log: number; checkpointed: number }
    return log - checkpointed > CHECKPOINT_PAGES
  }

  /** Copies the current content of the log into the file. If it was complete, the log restarts. */
  async checkpoint(): Promise<void> {
    // PASSIVE does not block: writes continue, and the checkpoint does not include what they add.
    await this.#run('PRAGMA wal_checkpoint(PASSIVE)')
  }

  /**
   * Merges some of the parts that commits have added to the search indexes: a search looks into each part. Takes the lock of
   * writes for some ten milliseconds.
   *
   * @returns whether there was anything to merge
   */
  async mergeSearchIndexes(): Promise<boolean> {
    const before = await this.#changes()
    for (const index of SEARCH_INDEXES)
      await this.#run(`INSERT INTO ${index} (${index}, "rank") VALUES ('merge', ${MERGED_PAGES})`)
    // A merge of nothing counts as one change.
    return (await this.#changes()) > before + SEARCH_INDEXES.length
  }

  async #changes(): Promise<number> {
    const [row] = await this.#run('SELECT total_changes() AS "total"')
    return (row as { total: number }).total
  }

  /** Runs a statement in the thread; must not run concurrently. */
  async #run(text: string): Promise<unknown[]> {
    this.#thread ??= new SqliteThread(this.#file, {
      readonly: false,
      onEnd: () => {
        this.#thread = undefined
      },
    })
    return (await this.#thread.run(text)).rows
  }

  /** To be called after the connections are closed. */
  async close(): Promise<void> {
    await this.#thread?.close()
    const handle = await this.#handle
    await handle?.close()
  }
}
