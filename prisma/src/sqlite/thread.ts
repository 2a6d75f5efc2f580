import { Worker } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import type { RawResult } from '../tables/executor.ts'

interface Answer {
  rows: unknown[]
  columns: RawResult['columns']
}

interface Options {
  readonly: boolean
  /** Called when the thread has ended, before the running statement rejects. */
  onEnd: () => void
}

/**
 * A thread with a connection of its own to a SQLite file, for statements that would block the event loop. Between statements the
 * connection has no snapshot open, and the thread does not keep the process alive.
 */
export class SqliteThread {
  readonly #worker: Worker
  #running: PromiseWithResolvers<Answer> | undefined
  #isClosing = false

  constructor(file: string, { readonly, onEnd }: Options) {
    // Some options of this process, such as --input-type, do not apply to a thread.
    this.#worker = new Worker(new URL('thread.mjs', import.meta.url), { workerData: { file, readonly }, execArgv: [] })
    let cause: unknown
    this.#worker.on('message', ({ error, ...answer }: Answer & { error?: { message: string; code: string } }) => {
      if (error === undefined) this.#running?.resolve(answer)
      else this.#running?.reject(new Sqlite.SqliteError(error.message, error.code))
    })
    this.#worker.once('error', (error) => {
      cause = error
    })
    this.#worker.once('exit', () => {
      onEnd()
      this.#running?.reject(new Error('A thread of the database ended.', { cause }))
    })
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /**
   * Runs a statement; only one at a time.
   *
   * @param isRaw returns rows as arrays, and the columns
   * @throws SqliteError
   */
  async run(text: string, values: unknown[] = [], isRaw = false): Promise<Answer> {
    this.#running = Promise.withResolvers()
    this.#worker.ref()
    this.#worker.postMessage({ text, values, isRaw })
    try {
      return await this.#running.promise
    } finally {
      this.#running = undefined
      if (!this.#isClosing) this.#worker.unref()
    }
  }

  /** Ends the thread, which first completes its running statement. That rejects with `error`. */
  async close(error?: Error): Promise<void> {
    this.#isClosing = true
    this.#running?.reject(error)
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    this.#worker.once('exit', () => resolve())
    this.#worker.ref()
    this.#worker.postMessage('close')
    await ended
  }
}
