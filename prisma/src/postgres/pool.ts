import { Socket } from 'node:net'
import pg from 'pg'
import type { PoolSettings } from '../database.ts'
import { BoundedPool } from './bounded-pool.ts'
import type { PostgresUrl } from './url.ts'

const SILENCE_MS = 2_000
const FROZEN_MS = 60_000

/**
 * Connections to PostgreSQL. What the URL says of time-outs goes before `settings`. A connection that breaks is left
 * out, and the next query makes another.
 */
export function openPool({ connectionString, pgbouncer }: PostgresUrl, settings: PoolSettings): BoundedPool {
  const { poolSize = 10, connectTimeoutMs = 5_000, statementTimeoutMs = 30_000 } = settings
  const pool = new BoundedPool({
    connectionString,
    Client: TruthfulClient,
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: 'resource-service',
    keepAlive: true,
    ...(statementTimeoutMs > 0 && { stream: () => impatientSocket(statementTimeoutMs + SILENCE_MS) }),
    // PgBouncer refuses a connection that begins with settings it does not know.
    ...(!pgbouncer && {
      statement_timeout: statementTimeoutMs,
      // A process that froze inside a transaction would hold its locks.
      idle_in_transaction_session_timeout: FROZEN_MS,
    }),
  })
  // Of a connection that nobody was using; whoever uses one is told by the query.
  pool.on('error', () => {})
  return pool
}

// PostgreSQL answers within the statement's time or cuts it off: longer silence means that the network is gone.
function impatientSocket(ms: number): Socket {
  const socket = new Socket()
  const gone = Object.assign(new Error('PostgreSQL did not answer in time.'), { code: 'ETIMEDOUT' })
  return socket.setTimeout(ms, () => socket.destroy(gone))
}

/**
 * PostgreSQL undoes a transaction in which a statement failed even when it is told to commit, and says so in the name
 * of the command alone. Here that is an error, so that nobody takes what is undone for written.
 */
class TruthfulClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    // A connection may break between two queries, and as it is given up: the next query tells. Unheard, it would end
    // the process.
    this.on('error', () => {})
  }

  // biome-ignore lint/suspicious/noExplicitAny: the driver's method has eight forms; all are passed on as they are
  override query(...args: any[]): any {
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const answer = (super.query as any)(...args)
    if (args[0]?.text !== 'COMMIT') return answer
    return answer.then((result: pg.QueryResult) => {
      if (result.command === 'COMMIT') return result
      throw new Error('The transaction was undone: a statement in it had failed.')
    })
  }
}
