import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { isAway, reasonOf, refusedParameter, sqlState } from './errors.ts'
import { assertTested } from './product.ts'
import type { SharedUrl } from './servers.ts'
import { SessionClient } from './session.ts'
import { BEGIN } from './transaction.ts'
import type { PostgresUrl } from './url.ts'

/** How long a start waits while another process migrates. */
const LOCK_TIMEOUT = '30s'
const MIN_ATTEMPT_MS = 1_000
const LOCK_NOT_AVAILABLE = '55P03'
const PAUSE_MS = 1_000
const MAX_LOCK_WAIT_MS = 120_000

/**
 * Connects for migrations, and waits for an unreachable server until `deadline`.
 *
 * @param allowUntested whether to accept databases that are not PostgreSQL
 * @throws Error with the reason when the database cannot be used
 */
export async function connect(url: SharedUrl, deadline: number, allowUntested = false): Promise<SessionClient> {
  const { connectionString, label, servers } = url
  for (;;) {
    try {
      const remainingMs = Math.max(deadline - performance.now(), MIN_ATTEMPT_MS)
      const client = new SessionClient({ connectionString, servers, connectionTimeoutMillis: remainingMs })
      await client.connect()
      try {
        if (!allowUntested) await assertTested(client)
        await client.useSettings(url)
        return client
      } catch (error) {
        await client.end()
        throw error
      }
    } catch (error) {
      if (!isAway(error)) {
        throw new Error(`The database ${label} cannot be used: ${reasonOf(error)}.${remedyOf(error, url)}`, {
          cause: error,
        })
      }
      if (performance.now() >= deadline) {
        throw new Error(
          `The database ${label} cannot be reached: ${reasonOf(error)}. Start PostgreSQL, or correct DATABASE_URL.`,
          { cause: error },
        )
      }
      await sleep(100)
    }
  }
}

function remedyOf(error: unknown, { connectionString }: PostgresUrl): string {
  const refused = refusedParameter(error)
  if (refused) return ` Remove ${refused} from DATABASE_URL, or add it to ignore_startup_parameters in pgbouncer.ini.`
  if (sqlState(error as object) !== '42501') return ''
  const { user, database } = new pg.Client(connectionString)
  const [name, role] = [database, user].map((name) => pg.escapeIdentifier(name ?? ''))
  return ` As the owner of the database run: GRANT CONNECT ON DATABASE ${name} TO ${role};`
}

// Settings and lock are local to the transaction: behind PgBouncer the next one may use another connection.
export async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query(`${BEGIN}; SET LOCAL statement_timeout = 0;
    SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`)
  try {
    const result = await work()
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  }
}

/** Runs a transaction again while it does not get a lock in time. Other sessions use the tables in between. */
export async function withShortLocks<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + MAX_LOCK_WAIT_MS
  for (;;) {
    try {
      return await inTransaction(client, work)
    } catch (error) {
      const cause = (error as Error).cause ?? error
      if (sqlState(cause as object) !== LOCK_NOT_AVAILABLE || performance.now() >= deadline) throw error
    }
    await sleep(PAUSE_MS)
  }
}

/** Warns with the sessions that a connection waits for. Their statements are omitted, because they may contain secrets. */
export async function reportBlockers(
  url: PostgresUrl,
  pid: number,
  name: string,
  warn: (message: string) => void,
): Promise<void> {
  const observer: pg.Client = await connect(url, performance.now(), true)
  try {
    const { rows } = await observer.query(
      `SELECT pid, application_name, state, coalesce(query_start, backend_start) AS since
       FROM pg_stat_activity WHERE pid = ANY(pg_blocking_pids($1)) ORDER BY pid`,
      [pid],
    )
    const blockers = rows.map(
      ({ pid, application_name, state, since }) =>
        `process ${pid} (${application_name || 'no application name'}, ${state}, its statement began at ${since.toISOString()})`,
    )
    if (blockers.length > 0) warn(`migration ${name} waits for a lock that is held by ${blockers.join(', ')}`)
  } finally {
    await observer.end()
  }
}
