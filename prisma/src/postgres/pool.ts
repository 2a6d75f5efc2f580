import { Socket } from 'node:net'
import pg from 'pg'
import { currentCaller, type DatabaseCaller } from '../callers.ts'
import type { PoolSettings } from '../database.ts'
import { Slots } from '../slots.ts'
import { isUnreachable } from './errors.ts'
import type { SharedUrl } from './servers.ts'
import { SessionClient, type SessionConfig } from './session.ts'

const SOCKET_GRACE_MS = 2_000

/**
 * A connection pool for PostgreSQL. Timeouts in the URL take precedence over `settings`. A broken connection is removed, and
 * the next query opens a new one.
 */
export function openPool(url: SharedUrl, settings: PoolSettings): FairPool {
  const { poolSize = 10, connectTimeoutMs = 5_000, statementTimeoutMs = 30_000 } = settings
  const ofPool = { statement_timeout: `${statementTimeoutMs}ms` }
  const pool = new FairPool({
    connectionString: url.connectionString,
    servers: url.servers,
    Client: SessionClient,
    // The driver waits for the promise, which its types omit.
    onConnect: (client) => (client as SessionClient).useSettings(url, ofPool),
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: 'resource-service',
    keepAlive: true,
    ...(statementTimeoutMs > 0 && { stream: () => socketWithTimeout(statementTimeoutMs + SOCKET_GRACE_MS) }),
  })
  // Emitted for idle connections only. On a connection in use the query fails.
  pool.on('error', () => {})
  return pool
}

// PostgreSQL answers or cancels a statement within its timeout. A longer silence means that the network failed. Not before the
// socket is connected: if no server is found it never is, nobody listens to its errors, and the timeout would end the process.
function socketWithTimeout(ms: number): Socket {
  const socket = new Socket()
  const timeout = Object.assign(new Error('PostgreSQL did not respond in time.'), { code: 'ETIMEDOUT' })
  return socket.once('connect', () => socket.setTimeout(ms, () => socket.destroy(timeout)))
}

type Callback = (error: Error | undefined, client: pg.PoolClient | undefined, done: (release?: unknown) => void) => void

/**
 * A pool whose queue is fair between callers, and bounded: while the expected wait is too long, further queries of the caller
 * with the most fail at once. Without the bound, the queue grows under overload until every query times out.
 */
export class FairPool extends pg.Pool {
  /** One for each connection: the pool's own queue, which is not fair, stays empty. */
  readonly #slots: Slots
  readonly #isRepeated: boolean

  constructor(options: pg.PoolConfig & SessionConfig & { max: number; connectionTimeoutMillis: number }) {
    super(options)
    const { max, connectionTimeoutMillis: maxWaitMs, servers } = options
    this.#slots = new Slots(max, { maxWaitMs, limitsWait: true, isRemote: true, what: 'queries' })
    this.#isRepeated = servers !== undefined
  }

  /** @throws Busy on timeout, or if too many queries wait; any error of a new connection */
  override connect(): Promise<pg.PoolClient>
  override connect(callback: Callback): void
  override connect(callback?: Callback): Promise<pg.PoolClient> | undefined {
    if (callback === undefined) return promised((done) => this.connect(done))
    const caller = currentCaller()
    // Most of the time a connection is free, and then the name of the caller would cost more than it tells.
    if (this.#slots.free > 0) {
      this.#slots.acquire()
      this.#open(caller, callback)
      return undefined
    }
    this.#slots.acquire(caller.name)?.then(
      () => this.#open(caller, callback),
      (error) => {
        caller.onRefused()
        callback(error, undefined, () => {})
      },
    )
    return undefined
  }

  #open(caller: DatabaseCaller, callback: Callback): void {
    const sinceMs = performance.now()
    const done: Callback = (error, client, ...rest) => {
      if (client === undefined) this.#free(caller, sinceMs)
      else this.#freeWith(client, caller, sinceMs)
      callback(error, client, ...rest)
    }
    if (!this.#isRepeated) super.connect(done)
    // Once more: another server may have taken over.
    else super.connect((error, ...rest) => (error && isUnreachable(error) ? super.connect(done) : done(error, ...rest)))
  }

  #free(caller: DatabaseCaller, sinceMs: number): void {
    this.#slots.release(this.#slots.waiting === 0 ? '' : caller.name, performance.now() - sinceMs)
  }

  /**
   * Frees the slot when a client is released, which stays in the pool after a rejected statement. pg.Pool closes the connection
   * after any error, which discards its prepared statements.
   */
  #freeWith(client: pg.PoolClient, caller: DatabaseCaller, sinceMs: number): void {
    const { release } = client
    client.release = (error) => {
      release(isRejection(error) ? undefined : error)
      this.#free(caller, sinceMs)
    }
  }

  /** The number of queries that wait. */
  get waiting(): number {
    return this.#slots.waiting
  }

  /** For how long queries have waited without any getting a connection, in milliseconds; 0 if none waits. */
  get stalledMs(): number {
    return this.#slots.stalledMs
  }

  /** Whether a further query of the caller would fail because the wait is too long. */
  isOverloaded(caller: string): boolean {
    return this.#slots.isOverloaded(caller)
  }
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
