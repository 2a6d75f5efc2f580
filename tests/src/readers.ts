import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'

const READERS = 4
const PAUSE_MS = 2
const ANSWER_WITHIN_MS = 15_000

/** Reads one record continuously and checks every response. */
export class Readers implements AsyncDisposable {
  /** 503 responses with Retry-After. */
  rejections = 0
  /** Correct responses. */
  correct = 0
  readonly unexpected: string[] = []
  readonly #clients: Client[]
  readonly #readers: Promise<void>[]
  #isStopped = false

  /** @param expected the response body, as text */
  constructor(url: string, path: string, expected: string, count = READERS) {
    const times = { headersTimeout: ANSWER_WITHIN_MS, bodyTimeout: ANSWER_WITHIN_MS }
    this.#clients = Array.from({ length: count }, () => new Client(url, times))
    this.#readers = this.#clients.map((client) => this.#read(client, path, expected))
  }

  /** Waits for `count` more correct responses. */
  async answered(count: number): Promise<void> {
    const goal = this.correct + count
    while (this.correct < goal && this.unexpected.length === 0) await sleep(5)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#readers)
    await Promise.all(this.#clients.map((client) => client.destroy()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async #read(client: Client, path: string, expected: string): Promise<void> {
    while (!this.#isStopped) {
      await sleep(PAUSE_MS)
      try {
        const { statusCode, headers, body } = await client.request({ method: 'GET', path })
        const text = await body.text()
        if (statusCode === 200 && text === expected) this.correct++
        else if (statusCode === 503 && headers['retry-after']) this.rejections++
        else this.unexpected.push(`GET ${path} answered ${statusCode} ${text}`)
      } catch (error) {
        this.unexpected.push(`GET ${path} got no response: ${(error as Error).message}`)
      }
    }
  }
}
