import { Worker } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import { LongReads } from '../long-reads.ts'
import type { Executor, RawResult } from '../tables/executor.ts'
import { numeric, type Statement } from '../tables/sql.ts'
import { fromSqlite, withOpaquePlaceholders } from './connection.ts'

// A caller gets one thread, so that another one does not wait for its reads. More would take the event loop's time.
const THREADS = 2

interface Answer {
  rows: unknown[]
  columns: RawResult['columns']
  error?: { message: string; code: string }
}

interface Thread {
  worker: Worker
  /** The answer to the running read. */
  answer: PromiseWithResolvers<Answer> | undefined
}

/**
 * Runs long reads of a SQLite file in worker threads with connections of their own: SQLite would block the event loop
 * meanwhile. A thread starts with the first read that needs it. Between reads the connections have no snapshot open.
 */
export class SqliteBackground implements Pick<Executor, 'all' | 'raw'> {
  readonly #file: string
  readonly #synced: () => Promise<void>
  readonly #reads = new LongReads(THREADS, 1)
  readonly #threads = new Set<Thread>()
  #isClosed = false

  /** @param synced resolves when all commits so far are on disk: the threads see them earlier */
  constructor(file: string, synced: () => Promise<void> = async () => {}) {
    this.#file = file
    this.#synced = synced
  }

  /** @throws Busy if the reads before this one take too long */
  all(statement: Statement): Promise<unknown[]> {
    return this.#reads.run(async () => (await this.#read(statement)).rows)
  }

  /** @throws Busy if the reads before this one take too long */
  raw({ text, values }: Statement): Promise<RawResult> {
    return this.#reads.run(async () => {
      const { columns, rows } = await this.#read({ text, values }, true)
      return { columns, rows: rows as unknown[][], count: rows.length }
    })
  }

  /** Rejects all reads and ends the threads, which first complete their running statements. */
  async close(): Promise<void> {
    this.#isClosed = true
    const ended = [...this.#threads].map(({ worker, answer }) => {
      answer?.reject(closed())
      const { promise: exited, resolve } = Promise.withResolvers<void>()
      worker.once('exit', () => resolve())
      worker.ref()
      worker.postMessage('close')
      return exited
    })
    await Promise.all(ended)
  }

  async #read({ text, values }: Statement, isRaw = false): Promise<Answer> {
    if (this.#isClosed) throw closed()
    const thread = [...this.#threads].find(({ answer }) => answer === undefined) ?? this.#start()
    const { worker } = thread
    thread.answer = Promise.withResolvers()
    worker.ref()
    worker.postMessage({ text: isRaw ? text : withOpaquePlaceholders(text), values: values.map(numeric), isRaw })
    const answer = await thread.answer.promise
    thread.answer = undefined
    worker.unref()
    const { error } = answer
    if (error !== undefined) throw fromSqlite(new Sqlite.SqliteError(error.message, error.code))
    await this.#synced()
    return answer
  }

  #start(): Thread {
    const worker = new Worker(new URL('background-worker.mjs', import.meta.url), {
      workerData: this.#file,
      // Some options of this process, such as --input-type, do not apply to a thread.
      execArgv: [],
    })
    const thread: Thread = { worker, answer: undefined }
    this.#threads.add(thread)
    let cause: unknown
    worker.on('message', (answer: Answer) => thread.answer?.resolve(answer))
    worker.once('error', (error) => {
      cause = error
    })
    worker.once('exit', () => {
      this.#threads.delete(thread)
      thread.answer?.reject(new Error('The thread for long reads ended.', { cause }))
    })
    return thread
  }
}

function closed(): Error {
  return new Error('The database is closed.')
}
