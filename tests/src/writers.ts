import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'

const LANES = 16
const USERS_AT_ONCE = 3
const RETRY_AFTER_MS = 50
// The service is there or it is not: whoever waits longer waits for nothing.
const ANSWER_WITHIN_MS = 15_000

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

/** What was acknowledged, beside what went wrong. */
export interface Ledger {
  items: Map<number, Item>
  users: Map<number, User>
  acknowledged: number
  /** How often a write had to be sent again. */
  repeats: number
  /** Answers 503, all of them with Retry-After. */
  refusals: number
  /** Answers that no state of the service allows. */
  wrong: string[]
}

export interface WritersOptions {
  /** Whether connections may break: where the service itself is killed. */
  mayBreak: boolean
}

/**
 * Writes without a pause: creates, bulk creates, changes and deletions, each with an Idempotency-Key of its own and sent
 * again until it is acknowledged.
 */
export class Writers {
  readonly ledger: Ledger = {
    items: new Map(),
    users: new Map(),
    acknowledged: 0,
    repeats: 0,
    refusals: 0,
    wrong: [],
  }
  readonly #clients: Client[]
  readonly #mayBreak: boolean
  readonly #lanes: Promise<void>[]
  #isStopped = false

  constructor(url: string, { mayBreak }: WritersOptions) {
    this.#mayBreak = mayBreak
    const times = { headersTimeout: ANSWER_WITHIN_MS, bodyTimeout: ANSWER_WITHIN_MS }
    this.#clients = Array.from({ length: LANES }, () => new Client(url, times))
    this.#lanes = this.#clients.map((client, lane) => this.#write(client, lane))
  }

  /** Until `count` more writes are acknowledged. */
  async acknowledged(count: number): Promise<void> {
    const goal = this.ledger.acknowledged + count
    while (this.ledger.acknowledged < goal && this.ledger.wrong.length === 0) await sleep(5)
  }

  /** Waits until what was begun is acknowledged. */
  async stop(): Promise<Ledger> {
    this.#isStopped = true
    await Promise.all(this.#lanes)
    await Promise.all(this.#clients.map((client) => client.destroy()))
    return this.ledger
  }

  async #write(client: Client, lane: number): Promise<void> {
    const { items, users, wrong } = this.ledger
    const own: Item[] = []
    const send = async (n: number, write: Write, isRight: (answer: never) => boolean) => {
      const answer = await this.#sendUntilAcknowledged(client, `${lane}-${n}`, write)
      if (answer === undefined) return undefined
      if (isRight(answer as never)) return answer
      wrong.push(`${write.method} ${write.path} answered ${JSON.stringify(answer)}`)
      return undefined
    }
    for (let n = 0; !this.#isStopped && wrong.length === 0; n++) {
      const kind = n % 5
      const [oldest] = own
      if (kind < 2 || oldest === undefined) {
        const sent = { name: `Item ${lane}-${n}`, price: n }
        const write: Write = { method: 'POST', path: '/items/', body: sent, status: 201 }
        const isRight = ({ item }: { item: Item }) =>
          item.name === sent.name && item.price === sent.price && !items.has(item.id)
        const answer = (await send(n, write, isRight)) as { item: Item } | undefined
        if (answer === undefined) return
        const item = { id: answer.item.id, ...sent, version: 1 }
        items.set(item.id, item)
        own.push(item)
      } else if (kind === 2) {
        const sent = Array.from({ length: USERS_AT_ONCE }, (_, at) => ({
          name: `User ${at}`,
          email: `${lane}-${n}-${at}@example.com`,
        }))
        const write: Write = { method: 'POST', path: '/api/users/bulk', body: sent, status: 201 }
        const isRight = (answer: User[]) =>
          answer.length === sent.length &&
          answer.every(({ id, email }, at) => email === sent[at]?.email && !users.has(id))
        const answer = (await send(n, write, isRight)) as User[] | undefined
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

  /** @returns the answer's body; undefined when one came that cannot be right */
  async #sendUntilAcknowledged(client: Client, key: string, { method, path, body, status }: Write): Promise<unknown> {
    const { wrong } = this.ledger
    const headers = { 'idempotency-key': key, ...(body && { 'content-type': 'application/json' }) }
    const request = { method, path, headers, ...(body && { body: JSON.stringify(body) }) }
    for (;;) {
      try {
        const { statusCode, headers, body } = await client.request(request)
        const text = await body.text()
        if (statusCode === status) {
          this.ledger.acknowledged++
          return JSON.parse(text)
        }
        if (statusCode !== 503 || !headers['retry-after']) {
          wrong.push(`${method} ${path} answered ${statusCode} ${text}`)
          return undefined
        }
        this.ledger.refusals++
      } catch (error) {
        if (!this.#mayBreak) {
          wrong.push(`${method} ${path} got no answer: ${(error as Error).message}`)
          return undefined
        }
      }
      this.ledger.repeats++
      await sleep(RETRY_AFTER_MS)
    }
  }
}
