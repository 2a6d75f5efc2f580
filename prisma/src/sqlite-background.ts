import { Worker } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import { Busy } from './errors.ts'
import type { Executor } from './sql-table.ts'
import { numeric, type Statement } from './sql-text.ts'
import { fromSqlite, withOpaquePlaceholders } from './sqlite-connection.ts'

// Bounds the queue: a read that has waited longer fails without reading.
const MAX_WAIT_MS = 5_000

interface Answer {
  rows: unknown[]
  error?: { message: string; code: string }
}

/**
 * Runs long reads of a SQLite file in a worker thread with a connection of its own, one after another: SQLite would block the
 * event loop meanwhile. The thread starts with the first read. Between reads the connection has no snapshot open.
 */
export class SqliteBackground implements Pick<Executor, 'all'> {
  readonly #file: string
  readonly #synced: () => Promise<void>
  #worker: Worker | undefined
  /** The end of the last read in the queue. */
  #last: Promise<unknown> = Promise.resolve()
  /** The answer to the running read. */
  #answer: PromiseWithResolvers<Answer> | undefined
  #isClosed = false

  /** @param synced resolves when all commits so far are on disk: the thread sees them earlier */
  constructor(file: string, synced: () => Promise<void> = async () => {}) {
    this.#file = file
    this.#synced = synced
  }

  /** @throws Busy if the reads before this one take too long */
  all(statement: Statement): Promise<unknown[]> {
    const sinceMs = performance.now()
    const rows = this.#last.then(() => {
      if (performance.now() - sinceMs > MAX_WAIT_MS) throw new Busy('The wait for other long reads timed out.')
      return this.#read(statement)
    })
    this.#last = rows.catch(() => {})
    return rows
  }

  /** Rejects all reads and ends the thread, which first completes its running statement. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#answer?.reject(closed())
    const worker = this.#worker
    if (worker === undefined) return
    const { promise: exited, resolve } = Promise.withResolvers<void>()
    worker.once('exit', () => resolve())
    worker.ref()
    worker.postMessage('close')
    await exited
  }

  async #read({ text, values }: Statement): Promise<unknown[]> {
    if (this.#isClosed) throw closed()
    this.#worker ??= this.#start()
    const worker = this.#worker
    this.#answer = Promise.withResolvers()
    worker.ref()
    worker.postMessage({ text: withOpaquePlaceholders(text), values: values.map(numeric) })
    const { rows, error } = await this.#answer.promise
    worker.unref()
    if (error !== undefined) throw fromSqlite(new Sqlite.SqliteError(error.message, error.code))
    await this.#synced()
    return rows
  }

  #start(): Worker {
    const worker = new Worker(new URL('background-worker.mjs', import.meta.url), {
      workerData: this.#file,
      // Some options of this process, such as --input-type, do not apply to a thread.
      execArgv: [],
    })
    let cause: unknown
    worker.on('message', (answer: Answer) => this.#answer?.resolve(answer))
    worker.once('error', (error) => {
      cause = error
    })
    worker.once('exit', () => {
      this.#worker = undefined
      this.#answer?.reject(new Error('The thread for long reads ended.', { cause }))
    })
    return worker
  }
}

function closed(): Error {
  return new Error('The database is closed.')
}
