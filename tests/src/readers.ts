import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'

const LANES = 4
const PAUSE_MS = 2
const ANSWER_WITHIN_MS = 15_000

/** Reads one record over and over, and looks at every answer. */
export class Readers {
  /** Answers 503 with Retry-After. */
  refusals = 0
  /** Right answers. */
  right = 0
  readonly wrong: string[] = []
  readonly #clients: Client[]
  readonly #lanes: Promise<void>[]
  #isStopped = false

  /** @param expected the answer's body, as text */
  constructor(url: string, path: string, expected: string) {
    const times = { headersTimeout: ANSWER_WITHIN_MS, bodyTimeout: ANSWER_WITHIN_MS }
    this.#clients = Array.from({ length: LANES }, () => new Client(url, times))
    this.#lanes = this.#clients.map((client) => this.#read(client, path, expected))
  }

  /** Until `count` more answers are right. */
  async answered(count: number): Promise<void> {
    const goal = this.right + count
    while (this.right < goal && this.wrong.length === 0) await sleep(5)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#lanes)
    await Promise.all(this.#clients.map((client) => client.destroy()))
  }

  async #read(client: Client, path: string, expected: string): Promise<void> {
    while (!this.#isStopped) {
      await sleep(PAUSE_MS)
      try {
        const { statusCode, headers, body } = await client.request({ method: 'GET', path })
        const text = await body.text()
        if (statusCode === 200 && text === expected) this.right++
        else if (statusCode === 503 && headers['retry-after']) this.refusals++
        else this.wrong.push(`GET ${path} answered ${statusCode} ${text}`)
      } catch (error) {
        this.wrong.push(`GET ${path} got no answer: ${(error as Error).message}`)
      }
    }
  }
}
