import pg from 'pg'
import { NO_FREE_CONNECTION } from '../postgres-errors.ts'

// This many queries may always wait.
const MIN_QUEUE = 10
// A burst may queue this many, and this many queries in total since the queue became long. A hundred concurrent callers with
// two queries each are then served even if the database stalls for a moment.
const BURST_QUEUE = 100
const BURST_QUERIES = 200
// Above that, a burst may wait up to this time and last up to this time.
const MAX_WAIT_MS = 250
const BURST_MS = 100
// The maximum wait in a permanently long queue, as for the event loop. Objects that wait longer survive V8's young-generation
// collections, and so do the rows of their results. For pages of 1,000 rows that took a third of the CPU (docs/decisions/limits.md).
const SUSTAINED_WAIT_MS = 30
// The queue must stay short for this time before a new burst is allowed.
const CALM_MS = 500
// Weight of a sample in the moving average of the time between two acquisitions: about the last 32 count.
const WEIGHT = 1 / 32

type Callback = (error: Error | undefined, client: pg.PoolClient | undefined, done: (release?: unknown) => void) => void

/**
 * A pool with a bounded queue. A query whose expected wait is too long fails at once, with the error of a wait that timed out.
 * Without the bound, the queue grows under overload until every query times out.
 */
export class BoundedPool extends pg.Pool {
  /** The start times of the waiting queries, in FIFO order. */
  readonly #waiting = new Set<{ readonly sinceMs: number }>()
  #lastAcquiredMs = 0
  #meanIntervalMs = 0
  #longSinceMs = 0
  #lastLongMs = Number.NEGATIVE_INFINITY
  /** The number of queries that had to wait since `#longSinceMs`. */
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
      super.connect((error, client, done) => callback(error, keptAfterRejection(client), done))
      return
    }
    if (this.isOverloaded()) {
      callback(new Error(NO_FREE_CONNECTION), undefined, () => {})
      return
    }
    this.#queriesSince++
    const sinceMs = performance.now()
    const waiter = { sinceMs }
    this.#waiting.add(waiter)
    super.connect((error, client, done) => {
      this.#waiting.delete(waiter)
      if (error === undefined) this.#countAcquisition(sinceMs)
      callback(error, keptAfterRejection(client), done)
    })
  }

  /** Queries the server without the bound on the queue: a health check must not fail because of load. */
  async ping(): Promise<void> {
    const client = await promised((done) => super.connect(done))
    let isReusable = false
    try {
      await client.query('SELECT 1')
      isReusable = true
    } finally {
      client.release(!isReusable)
    }
  }

  /** Whether the wait of a new query would be too long. */
  isOverloaded(): boolean {
    if (this.#waiting.size < MIN_QUEUE) return false
    const nowMs = performance.now()
    const [first] = this.#waiting
    const isStuck = first !== undefined && nowMs - first.sinceMs > MAX_WAIT_MS
    const expectedMs = this.#waiting.size * this.#meanIntervalMs
    if (!isStuck && expectedMs <= SUSTAINED_WAIT_MS) return false
    if (nowMs - this.#lastLongMs > CALM_MS) {
      this.#longSinceMs = nowMs
      this.#queriesSince = this.#waiting.size
    }
    this.#lastLongMs = nowMs
    if (this.#waiting.size < BURST_QUEUE && this.#queriesSince < BURST_QUERIES) return false
    return isStuck || expectedMs > (nowMs - this.#longSinceMs > BURST_MS ? SUSTAINED_WAIT_MS : MAX_WAIT_MS)
  }

  #countAcquisition(sinceMs: number): void {
    const nowMs = performance.now()
    const intervalMs = nowMs - Math.max(sinceMs, this.#lastAcquiredMs)
    this.#meanIntervalMs += (intervalMs - this.#meanIntervalMs) * WEIGHT
    this.#lastAcquiredMs = nowMs
  }
}

/**
 * A client that stays in the pool after a rejected statement. pg.Pool closes the connection after any error, which discards
 * its prepared statements.
 */
function keptAfterRejection(client: pg.PoolClient | undefined): pg.PoolClient | undefined {
  if (client === undefined) return undefined
  const { release } = client
  client.release = (error) => release(isRejection(error) ? undefined : error)
  return client
}

// Data, constraints, serialization failures, names, locks, and canceled statements. Other errors may end the connection or a
// prepared statement.
const REJECTION = /^(?:22|23|40|42|55|57014)/

function isRejection(error: unknown): boolean {
  return error instanceof pg.DatabaseError && REJECTION.test(error.code ?? '')
}

function promised(connect: (done: Callback) => void): Promise<pg.PoolClient> {
  return new Promise((resolve, reject) => {
    connect((error, client) => (client === undefined ? reject(error) : resolve(client)))
  })
}
