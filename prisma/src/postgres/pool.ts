import { Socket } from 'node:net'
import pg from 'pg'
import type { PoolSettings } from '../database.ts'
import { WaitLimit } from '../wait-limit.ts'
import { isUnreachable, NO_FREE_CONNECTION } from './errors.ts'
import type { SharedUrl } from './servers.ts'
import { SessionClient, type SessionConfig } from './session.ts'

const SOCKET_GRACE_MS = 2_000

/**
 * A connection pool for PostgreSQL. Timeouts in the URL take precedence over `settings`. A broken connection is removed, and
 * the next query opens a new one.
 */
export function openPool(url: SharedUrl, settings: PoolSettings): BoundedPool {
  const { poolSize = 10, connectTimeoutMs = 5_000, statementTimeoutMs = 30_000 } = settings
  const ofPool = { statement_timeout: `${statementTimeoutMs}ms` }
  const pool = new BoundedPool({
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
 * A pool with a bounded queue. A query whose expected wait is too long fails at once, with the error of a wait that timed out.
 * Without the bound, the queue grows under overload until every query times out.
 */
export class BoundedPool extends pg.Pool {
  readonly #waits = new WaitLimit()
  readonly #isRepeated: boolean

  constructor(options: pg.PoolConfig & SessionConfig) {
    super(options)
    this.#isRepeated = options.servers !== undefined
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Callback): void
  override connect(callback?: Callback): Promise<pg.PoolClient> | undefined {
    if (callback === undefined) return promised((done) => this.connect(done))
    this.#connect(callback)
    return undefined
  }

  #connect(callback: Callback): void {
    if (this.waitingCount < this.idleCount + this.options.max - this.totalCount) {
      this.#open((error, client, done) => callback(error, keptAfterRejection(client), done))
      return
    }
    if (this.isOverloaded()) {
      callback(new Error(NO_FREE_CONNECTION), undefined, () => {})
      return
    }
    const wait = this.#waits.begin()
    this.#open((error, client, done) => {
      this.#waits.end(wait, error === undefined)
      callback(error, keptAfterRejection(client), done)
    })
  }

  #open(callback: Callback): void {
    const open = () => super.connect(callback)
    if (!this.#isRepeated) open()
    // Once more: another server may have taken over.
    else super.connect((error, ...rest) => (error && isUnreachable(error) ? open() : callback(error, ...rest)))
  }

  /** How long the first of the waiting queries has waited, in milliseconds; 0 if none waits. */
  get waitMs(): number {
    return this.#waits.firstMs
  }

  /** Whether the wait of a new query would be too long. */
  isOverloaded(): boolean {
    return this.#waits.isOverloaded()
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
