import { Socket } from 'node:net'
import pg from 'pg'
import type { PoolSettings } from '../database.ts'
import { BoundedPool } from './bounded-pool.ts'
import type { PostgresUrl } from './url.ts'

const SOCKET_GRACE_MS = 2_000
const IDLE_TRANSACTION_MS = 60_000

/**
 * A connection pool for PostgreSQL. Timeouts in the URL take precedence over `settings`. A broken connection is removed, and
 * the next query opens a new one.
 */
export function openPool({ connectionString, pgbouncer }: PostgresUrl, settings: PoolSettings): BoundedPool {
  const { poolSize = 10, connectTimeoutMs = 5_000, statementTimeoutMs = 30_000 } = settings
  const pool = new BoundedPool({
    connectionString,
    Client: CommitCheckingClient,
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: 'resource-service',
    keepAlive: true,
    ...(statementTimeoutMs > 0 && { stream: () => socketWithTimeout(statementTimeoutMs + SOCKET_GRACE_MS) }),
    // PgBouncer rejects a connection with startup parameters that it does not support.
    ...(!pgbouncer && {
      statement_timeout: statementTimeoutMs,
      // Otherwise a process that hangs inside a transaction holds its locks.
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
    }),
  })
  // Emitted for idle connections only. On a connection in use the query fails.
  pool.on('error', () => {})
  return pool
}

// PostgreSQL answers or cancels a statement within its timeout. A longer silence means that the network failed.
function socketWithTimeout(ms: number): Socket {
  const socket = new Socket()
  const timeout = Object.assign(new Error('PostgreSQL did not respond in time.'), { code: 'ETIMEDOUT' })
  return socket.setTimeout(ms, () => socket.destroy(timeout))
}

/**
 * COMMIT of a transaction with a failed statement rolls back, and PostgreSQL reports this only in the command tag of its
 * response. This client turns it into an error, so that a rollback is never mistaken for a commit.
 */
class CommitCheckingClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    // A connection may break between queries or while it closes; the next query fails then. Without a listener the event would
    // terminate the process.
    this.on('error', () => {})
  }

  // biome-ignore lint/suspicious/noExplicitAny: the driver's method has eight overloads; all are passed through
  override query(...args: any[]): any {
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const response = (super.query as any)(...args)
    if (args[0]?.text !== 'COMMIT') return response
    return response.then((result: pg.QueryResult) => {
      if (result.command === 'COMMIT') return result
      throw new Error('The transaction was rolled back because a statement in it failed.')
    })
  }
}
