import { LongReads } from '../long-reads.ts'
import type { Executor, RawResult } from '../tables/executor.ts'
import { numeric, type Statement } from '../tables/sql.ts'
import { fromSqlite, withOpaquePlaceholders } from './connection.ts'
import { SqliteThread } from './thread.ts'

// A caller gets one thread, so that another one does not wait for its reads. More would take the event loop's time.
const THREADS = 2

/** Runs long reads of a SQLite file in threads. A thread starts with the first read that needs it. */
export class SqliteBackground implements Pick<Executor, 'all' | 'raw'> {
  readonly #file: string
  readonly #synced: () => Promise<void>
  readonly #reads = new LongReads(THREADS, 1)
  readonly #threads = new Set<SqliteThread>()
  #isClosed = false

  /** @param synced resolves when all commits so far are on disk: the threads see them earlier */
  constructor(file: string, synced: () => Promise<void> = async () => {}) {
    this.#file = file
    this.#synced = synced
  }

  /** @throws Busy if the reads before this one take too long */
  all({ text, values }: Statement): Promise<unknown[]> {
    return this.#reads.run(async () => (await this.#read({ text: withOpaquePlaceholders(text), values })).rows)
  }

  /** @throws Busy if the reads before this one take too long */
  raw(statement: Statement): Promise<RawResult> {
    return this.#reads.run(async () => {
      const { columns, rows } = await this.#read(statement, true)
      return { columns, rows: rows as unknown[][], count: rows.length }
    })
  }

  isOverloaded(caller: string): boolean {
    return this.#reads.isOverloaded(caller)
  }

  /** Rejects all reads and ends the threads, which first complete their running statements. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#threads].map((thread) => thread.close(closed())))
  }

  async #read({ text, values }: Statement, isRaw = false) {
    if (this.#isClosed) throw closed()
    const thread = [...this.#threads].find(({ isRunning }) => !isRunning) ?? this.#start()
    const answer = await thread.run(text, values.map(numeric), isRaw).catch((error) => {
      throw fromSqlite(error)
    })
    await this.#synced()
    return answer
  }

  #start(): SqliteThread {
    const thread = new SqliteThread(this.#file, { readonly: true, onEnd: () => this.#threads.delete(thread) })
    this.#threads.add(thread)
    return thread
  }
}

function closed(): Error {
  return new Error('The database is closed.')
}
