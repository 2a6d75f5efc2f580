import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { isAway, reasonOf, refusedParameter, sqlState } from './errors.ts'
import { assertTested } from './product.ts'
import type { SharedUrl } from './servers.ts'
import { SessionClient } from './session.ts'
import { BEGIN } from './transaction.ts'
import type { PostgresUrl } from './url.ts'

/** The advisory lock of `prisma migrate deploy`. */
const TRY_LOCK = 'SELECT pg_try_advisory_xact_lock(72707369) AS locked'
const LOCK_POLL_MS = 50
const SLOW_LOCK_MS = 10_000
const ROW_LOCK_TIMEOUT = '30s'
const MIN_ATTEMPT_MS = 1_000
const LOCK_NOT_AVAILABLE = '55P03'
// A statement that waits for a lock on a table makes all later statements on the table wait for it. An attempt therefore gives
// up soon, and attempts take one percent of the time.
const FIRST_LOCK_TIMEOUT_MS = 10
const MAX_LOCK_TIMEOUT_MS = 160
const PAUSES_PER_ATTEMPT = 100
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
    SET LOCAL lock_timeout = '${ROW_LOCK_TIMEOUT}'`)
  try {
    const result = await work()
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  }
}

/**
 * Runs a transaction while no other process migrates. It is repeated while it does not get the lock of a table in time; other
 * sessions use the tables in between.
 *
 * @param work gets the time after which it must give up waiting for a table
 */
export async function exclusively<T>(
  client: pg.Client,
  work: (lockTimeoutMs: number) => Promise<T>,
  warn: (message: string) => void,
): Promise<T> {
  const startedMs = performance.now()
  let deadlineMs: number | undefined
  let lockTimeoutMs = FIRST_LOCK_TIMEOUT_MS
  for (;;) {
    // An index that another process builds waits for statements of others: none must wait for that process.
    const attempt = async () =>
      (await client.query(TRY_LOCK)).rows[0].locked ? { result: await work(lockTimeoutMs) } : undefined
    try {
      const done = await inTransaction(client, attempt)
      if (done !== undefined) return done.result
      if (performance.now() - startedMs > SLOW_LOCK_MS)
        warn('another process migrates the database: the start waits for it')
      await sleep(LOCK_POLL_MS)
    } catch (error) {
      const cause = (error as Error).cause ?? error
      deadlineMs ??= performance.now() + MAX_LOCK_WAIT_MS
      if (sqlState(cause as object) !== LOCK_NOT_AVAILABLE || performance.now() >= deadlineMs) throw error
      await sleep(PAUSES_PER_ATTEMPT * lockTimeoutMs)
      lockTimeoutMs = Math.min(2 * lockTimeoutMs, MAX_LOCK_TIMEOUT_MS)
    }
  }
}

/** Warns with the sessions that another one waits for. Their statements are omitted, because they may contain secrets. */
export function openReports(url: SharedUrl, warn: (message: string) => void) {
  // Connected when it is first needed, and kept: connecting takes longer than the first attempts.
  let observer: Promise<pg.Client> | undefined
  const report = async (pid: number, name: string) => {
    observer ??= connect(url, performance.now(), true)
    const { rows } = await (await observer).query(
      `SELECT pid, application_name, state, coalesce(query_start, backend_start) AS since
       FROM pg_stat_activity WHERE pid = ANY(pg_blocking_pids($1)) ORDER BY pid`,
      [pid],
    )
    const blockers = rows.map(
      ({ pid, application_name, state, since }) =>
        `process ${pid} (${application_name || 'no application name'}, ${state}, its statement began at ${since.toISOString()})`,
    )
    if (blockers.length > 0) warn(`migration ${name} waits for a lock that is held by ${blockers.join(', ')}`)
  }
  return {
    /** @param pid the process id of the waiting session */
    report: (pid: number, name: string) => void report(pid, name).catch(() => {}),
    close: async () => {
      const opened = await observer?.catch(() => undefined)
      await opened?.end()
    },
  }
}
