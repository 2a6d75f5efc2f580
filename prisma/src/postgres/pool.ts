import { Socket } from 'node:net'
import type { PoolSettings } from '../database.ts'
import { BoundedPool } from './bounded-pool.ts'
import { SessionClient } from './session.ts'
import type { PostgresUrl } from './url.ts'

const SOCKET_GRACE_MS = 2_000

/**
 * A connection pool for PostgreSQL. Timeouts in the URL take precedence over `settings`. A broken connection is removed, and
 * the next query opens a new one.
 */
export function openPool(url: PostgresUrl, settings: PoolSettings): BoundedPool {
  const { poolSize = 10, connectTimeoutMs = 5_000, statementTimeoutMs = 30_000 } = settings
  const ofPool = { statement_timeout: `${statementTimeoutMs}ms` }
  const pool = new BoundedPool({
    connectionString: url.connectionString,
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

// PostgreSQL answers or cancels a statement within its timeout. A longer silence means that the network failed.
function socketWithTimeout(ms: number): Socket {
  const socket = new Socket()
  const timeout = Object.assign(new Error('PostgreSQL did not respond in time.'), { code: 'ETIMEDOUT' })
  return socket.setTimeout(ms, () => socket.destroy(timeout))
}
