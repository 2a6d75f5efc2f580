import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'

const CALLERS = 16
const USERS_PER_BULK = 3
const RETRY_AFTER_MS = 50
// Far more than any response takes, so that a hang shows as a failure.
const ANSWER_WITHIN_MS = 15_000
const ACKNOWLEDGED_WITHIN_MS = 60_000

interface Item {
  id: number
  name: string
  price: number
  version: number
}

interface User {
  id: number
  name: string
  email: string
}

interface Write {
  method: 'POST' | 'PATCH' | 'DELETE'
  path: string
  body?: object
  status: number
}

/** The acknowledged records, and counts of the responses. */
export interface Ledger {
  items: Map<number, Item>
  users: Map<number, User>
  acknowledged: number
  /** Retried writes. */
  retries: number
  /** 503 responses with Retry-After. */
  rejections: number
  /** Responses that are incorrect in every state of the service. */
  unexpected: string[]
}

export interface WritersOptions {
  /** Whether broken connections are expected, because the scenario kills the service. */
  mayBreak: boolean
  /** Distinguishes the writes of several writers on one database. */
  name?: string
  /** The time between the writes of a caller, in ms. */
  pauseMs?: number
}

/**
 * Sends writes continuously: creates, bulk creates, updates and deletes. Each has a unique Idempotency-Key and is retried
 * until it is acknowledged.
 */
export class Writers implements AsyncDisposable {
  readonly ledger: Ledger = {
    items: new Map(),
    users: new Map(),
    acknowledged: 0,
    retries: 0,
    rejections: 0,
    unexpected: [],
  }
  readonly #clients: Client[]
  readonly #mayBreak: boolean
  readonly #name: string
  readonly #pauseMs: number
  readonly #callers: Promise<void>[]
  #isStopped = false
  #lastAcknowledged = performance.now()
  #longestPause = 0
  #isAborted = false

  constructor(url: string, { mayBreak, name = '', pauseMs = 0 }: WritersOptions) {
    this.#mayBreak = mayBreak
    this.#name = name
    this.#pauseMs = pauseMs
    const times = { headersTimeout: ANSWER_WITHIN_MS, bodyTimeout: ANSWER_WITHIN_MS }
    this.#clients = Array.from({ length: CALLERS }, () => new Client(url, times))
    this.#callers = this.#clients.map((client, caller) => this.#write(client, caller))
  }

  /**
   * Waits for `count` more acknowledged writes.
   *
   * @throws Error if they take longer than a minute, for example because the service exited by itself
   */
  async acknowledged(count: number): Promise<void> {
    const goal = this.ledger.acknowledged + count
    const until = performance.now() + ACKNOWLEDGED_WITHIN_MS
    while (this.ledger.acknowledged < goal && this.ledger.unexpected.length === 0) {
      if (performance.now() > until) throw new Error(`${count} writes were not acknowledged within a minute`)
      await sleep(5)
    }
  }

  /** The longest time without an acknowledged write since the last call, in ms. */
  takeLongestPause(): number {
    const pause = this.#longestPause
    this.#longestPause = 0
    return pause
  }

  /** Stops after the writes in progress are acknowledged. */
  async stop(): Promise<Ledger> {
    this.#isStopped = true
    await Promise.all(this.#callers)
    await Promise.all(this.#clients.map((client) => client.destroy()))
    return this.ledger
  }

  /** Stops at once, without a response to the writes in progress: the service may be gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isAborted = true
    await Promise.all(this.#clients.map((client) => client.destroy()))
    await this.stop()
  }

  async #write(client: Client, caller: number): Promise<void> {
    const { items, users, unexpected } = this.ledger
    const own: Item[] = []
    const send = async (n: number, write: Write, isCorrect: (answer: never) => boolean) => {
      const answer = await this.#sendUntilAcknowledged(client, `${this.#name}${caller}-${n}`, write)
      if (answer === undefined) return undefined
      if (isCorrect(answer as never)) return answer
      unexpected.push(`${write.method} ${write.path} answered ${JSON.stringify(answer)}`)
      return undefined
    }
    for (let n = 0; !this.#isStopped && unexpected.length === 0; n++) {
      if (this.#pauseMs > 0) await sleep(this.#pauseMs)
      const kind = n % 5
      const [oldest] = own
      if (kind < 2 || oldest === undefined) {
        const sent = { name: `Item ${this.#name}${caller}-${n}`, price: n }
        const write: Write = { method: 'POST', path: '/items/', body: sent, status: 201 }
        const isCorrect = ({ item }: { item: Item }) =>
          item.name === sent.name && item.price === sent.price && !items.has(item.id)
        const answer = (await send(n, write, isCorrect)) as { item: Item } | undefined
        if (answer === undefined) return
        const item = { id: answer.item.id, ...sent, version: 1 }
        items.set(item.id, item)
        own.push(item)
      } else if (kind === 2) {
        const sent = Array.from({ length: USERS_PER_BULK }, (_, at) => ({
          name: `User ${at}`,
          email: `${this.#name}${caller}-${n}-${at}@example.com`,
        }))
        const write: Write = { method: 'POST', path: '/api/users/bulk', body: sent, status: 201 }
        const isCorrect = (answer: User[]) =>
          answer.length === sent.length &&
          answer.every(({ id, email }, at) => email === sent[at]?.email && !users.has(id))
        const answer = (await send(n, write, isCorrect)) as User[] | undefined
        if (answer === undefined) return
        for (const { id, name, email } of answer) users.set(id, { id, name, email })
      } else if (kind === 3) {
        const write: Write = { method: 'PATCH', path: `/items/${oldest.id}`, body: { price: n + 0.5 }, status: 200 }
        const answer = await send(n, write, ({ id, price }: Item) => id === oldest.id && price === n + 0.5)
        if (answer === undefined) return
        oldest.price = n + 0.5
        oldest.version++
      } else {
        const write: Write = { method: 'DELETE', path: `/items/${oldest.id}`, status: 200 }
        const answer = await send(n, write, ({ message }: { message: string }) => message === 'Item deleted')
        if (answer === undefined) return
        items.delete(oldest.id)
        own.shift()
      }
    }
  }

  /** @returns the response body; undefined once disposed, and after an incorrect response, which the ledger records */
  async #sendUntilAcknowledged(client: Client, key: string, { method, path, body, status }: Write): Promise<unknown> {
    const { unexpected } = this.ledger
    const headers = { 'idempotency-key': key, ...(body && { 'content-type': 'application/json' }) }
    const request = { method, path, headers, ...(body && { body: JSON.stringify(body) }) }
    for (;;) {
      try {
        const { statusCode, headers, body } = await client.request(request)
        const text = await body.text()
        if (statusCode === status) {
          this.ledger.acknowledged++
          const now = performance.now()
          this.#longestPause = Math.max(this.#longestPause, now - this.#lastAcknowledged)
          this.#lastAcknowledged = now
          return JSON.parse(text)
        }
        if (statusCode !== 503 || !headers['retry-after']) {
          unexpected.push(`${method} ${path} answered ${statusCode} ${text}`)
          return undefined
        }
        this.ledger.rejections++
      } catch (error) {
        if (this.#isAborted) return undefined
        if (!this.#mayBreak) {
          unexpected.push(`${method} ${path} got no response: ${(error as Error).message}`)
          return undefined
        }
      }
      this.ledger.retries++
      await sleep(RETRY_AFTER_MS)
    }
  }
}
