import pg from 'pg'
import { NO_FREE_CONNECTION } from '../postgres-errors.ts'

// So many may wait however long each takes.
const FEW_WAITING = 10
// And of the first so many since the queue is long: a hundred callers at once are served, with the two queries that each
// asks, when the database stands still for a moment.
const BURST_WAITING = 100
const BURST_QUERIES = 200
// Beyond them a burst may have to wait for so long, and may last for so long.
const LONGEST_WAIT_MS = 250
const BURST_MS = 100
// In a queue that stays, as with the rounds of the event loop. What waits for longer survives V8's collections of young
// memory, and then the rows it is answered with do too: of pages of a thousand, a third of the CPU went there
// (docs/decisions/limits.md).
const STANDING_MS = 30
// For so long it may not be long before the next burst is taken for a new one.
const CALM_MS = 500
// Of the mean time between two turns: the last thirty or so count.
const WEIGHT = 1 / 32

type Callback = (error: Error | undefined, client: pg.PoolClient | undefined, done: (release?: unknown) => void) => void

/**
 * A pool for whose connections few wait when many come for long: what would have to wait for too long fails at once, as
 * what waited in vain does, and what is let in gets its turn soon. Without that a queue under too much load only grows,
 * and nobody is served in time.
 */
export class BoundedPool extends pg.Pool {
  /** When each that waits began to, the first of them first. */
  readonly #waiting = new Set<{ readonly sinceMs: number }>()
  #lastTurnMs = 0
  #meanTurnMs = 0
  #longSinceMs = 0
  #lastLongMs = Number.NEGATIVE_INFINITY
  /** How many have had to wait since then. */
  #queriesSince = 0

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Callback): void
  override connect(callback?: Callback): Promise<pg.PoolClient> | undefined {
    if (callback === undefined) return promised((done) => this.connect(done))
    this.#connect(callback)
    return undefined
  }

  #connect(callback: Callback): void {
    if (this.waitingCount < this.idleCount || this.totalCount < this.options.max) {
      super.connect((error, client, done) => callback(error, keepingOrderly(client), done))
      return
    }
    if (this.isCrowded()) {
      callback(new Error(NO_FREE_CONNECTION), undefined, () => {})
      return
    }
    this.#queriesSince++
    const sinceMs = performance.now()
    const waiter = { sinceMs }
    this.#waiting.add(waiter)
    super.connect((error, client, done) => {
      this.#waiting.delete(waiter)
      if (error === undefined) this.#countTurn(sinceMs)
      callback(error, keepingOrderly(client), done)
    })
  }

  /** Asks the server, whoever waits: whether the database answers is no question of how many others ask. */
  async ping(): Promise<void> {
    const client = await promised((done) => super.connect(done))
    let isInOrder = false
    try {
      await client.query('SELECT 1')
      isInOrder = true
    } finally {
      client.release(!isInOrder)
    }
  }

  /** Whether whoever comes now would have to wait for too long. */
  isCrowded(): boolean {
    if (this.#waiting.size < FEW_WAITING) return false
    const nowMs = performance.now()
    const [first] = this.#waiting
    const isStuck = first !== undefined && nowMs - first.sinceMs > LONGEST_WAIT_MS
    const expectedMs = this.#waiting.size * this.#meanTurnMs
    if (!isStuck && expectedMs <= STANDING_MS) return false
    if (nowMs - this.#lastLongMs > CALM_MS) {
      this.#longSinceMs = nowMs
      this.#queriesSince = this.#waiting.size
    }
    this.#lastLongMs = nowMs
    if (this.#waiting.size < BURST_WAITING && this.#queriesSince < BURST_QUERIES) return false
    return isStuck || expectedMs > (nowMs - this.#longSinceMs > BURST_MS ? STANDING_MS : LONGEST_WAIT_MS)
  }

  #countTurn(sinceMs: number): void {
    const nowMs = performance.now()
    const turnMs = nowMs - Math.max(sinceMs, this.#lastTurnMs)
    this.#meanTurnMs += (turnMs - this.#meanTurnMs) * WEIGHT
    this.#lastTurnMs = nowMs
  }
}

/**
 * A client that goes back to the pool after a statement that PostgreSQL refused. The pool itself closes the connection after
 * any error, and with it all prepared statements are gone.
 */
function keepingOrderly(client: pg.PoolClient | undefined): pg.PoolClient | undefined {
  if (client === undefined) return undefined
  const { release } = client
  client.release = (error) => release(isRefusal(error) ? undefined : error)
  return client
}

// Data, constraints, lost transactions, names, locks, and statements that were cut off. What else PostgreSQL says may be the
// end of the connection, or of a prepared statement.
const REFUSAL = /^(?:22|23|40|42|55|57014)/

function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && REFUSAL.test(error.code ?? '')
}

function promised(connect: (done: Callback) => void): Promise<pg.PoolClient> {
  return new Promise((resolve, reject) => {
    connect((error, client) => (client === undefined ? reject(error) : resolve(client)))
  })
}
