import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { currentCaller } from '../callers.ts'
import type { Engine, Options } from '../database.ts'
import { Conflict, InDoubt, ReadOnly } from '../errors.ts'
import { backgroundOf, longReadsOf } from '../long-reads.ts'
import { Slots } from '../slots.ts'
import { declarations } from '../tables/declarations.ts'
import type { Executor } from '../tables/executor.ts'
import { readOnly, singleWriteOnly } from '../tables/guarded.ts'
import { sqlState } from './errors.ts'
import { migratePostgres } from './migrate.ts'
import { type FairPool, openPool } from './pool.ts'
import { Readiness, UNCONFIRMED } from './readiness.ts'
import { withServers } from './servers.ts'
import { openPrepared } from './transaction.ts'
import { type PostgresUrl, readPostgresUrl } from './url.ts'

const MAX_RETRY_DELAY_MS = 100
// Writes wait for locks and disks. They leave this share of the connections, and at least one, to reads.
const READ_SHARE = 0.1
const MAX_WAITING_WRITES = 1_000
const MAX_WAITING_PER_KEY = 99
// Large writes and dry runs: each holds locks of records until its end, on which writes of others wait, and two use up the time
// of the event loop.
const MAX_LARGE_WRITES = 2
// Others do not wait for a step of a large write, but decoding more rows of an answer at once would delay their reads.
const STEP_ROWS = 2_000
/** Rows that a search without an index looks at. */
const SEARCH_LIMIT = 100_000
const unindexed = () =>
  `a search looks at the first ${SEARCH_LIMIT.toLocaleString('en')} records in sort order only, because the database lacks the extension pg_trgm or the search indexes (prisma/README.md)`

// A statement takes this lock on the table before it takes an id from its sequence, and the transaction keeps it to its end. A standby
// does not know the locks of its primary.
const AUDIT_WRITERS = `SELECT pg_is_in_recovery() AS "isStandby", ARRAY(SELECT DISTINCT virtualtransaction FROM pg_locks
  WHERE locktype = 'relation' AND relation = 'audit_entries'::regclass AND mode = 'RowExclusiveLock' AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS writers`

const PENDING_COMMIT = `SELECT 1 AS pending FROM ${UNCONFIRMED} LIMIT 1`
const PENDING_CHECK_MS = 500

type PostgresOptions = Options & Required<Pick<Options, 'queueTimeoutMs' | 'writeTimeoutMs'>>

/**
 * Applies pending migrations to a PostgreSQL database and opens it.
 *
 * Transactions use PostgreSQL's default isolation level, READ COMMITTED. It is sufficient because each write is decided by a
 * condition of its own statement or by a unique index, never by an earlier read. PostgreSQL checks both against the committed
 * data when the statement gets the row lock. Writes that must see each other share a lock key.
 *
 * @throws Error with a remedy when the URL is malformed, the server does not respond within the connect timeout, or the
 * database has a different migration history
 */
export async function openPostgres(url: string, options: PostgresOptions): Promise<Engine> {
  const parsed = withServers(readPostgresUrl(url))
  await migratePostgres(parsed, options.connectTimeoutMs ?? 5_000, options)
  const pool = openPool(parsed, options)
  try {
    return await openEngine(pool, parsed, options)
  } catch (error) {
    await pool.end()
    throw error
  }
}

async function openEngine(
  pool: FairPool,
  parsed: PostgresUrl,
  { queueTimeoutMs, writeTimeoutMs, onWarning = () => {}, ...settings }: PostgresOptions,
): Promise<Engine> {
  const { executor, transaction } = openPrepared(pool, writeTimeoutMs)
  const isSearchIndexed = await hasSearchIndexes(executor)
  if (!isSearchIndexed) onWarning(unindexed())
  const searchLimit = isSearchIndexed ? undefined : SEARCH_LIMIT
  const longReads = longReadsOf(pool.options.max)
  const reader = readOnly(executor)
  const queuedCaller = () => (pool.waiting === 0 ? '' : currentCaller().name)
  const read = Object.assign(reader, { searchLimit, queuedCaller, background: backgroundOf(reader, longReads) })
  const oneByOne = keyedSlots(queueTimeoutMs)
  const { max } = pool.options
  // As long as a write may take: others with the same records may run first.
  const slots = Math.max(1, max - Math.ceil(max * READ_SHARE))
  const writes = new Slots(slots, {
    // Writes of one caller to a record that another session has locked leave a connection to other callers.
    maxPerCaller: Math.max(1, slots - 1),
    maxWaitMs: writeTimeoutMs,
    maxWaiting: MAX_WAITING_WRITES,
  })
  const large = new Slots(MAX_LARGE_WRITES, {
    maxPerCaller: 1,
    maxWaitMs: writeTimeoutMs,
    maxWaiting: MAX_WAITING_WRITES,
    what: 'large writes and previews',
  })
  const readiness = new Readiness(parsed, settings, pool, writes)
  // After a conflict the whole transaction is rolled back, and its work has no other side effects, so it can be retried. The
  // random delay keeps the same transactions from conflicting again.
  const withRetries = async <T>(transaction: () => Promise<T>, caller: string | undefined): Promise<T> => {
    const deadlineMs = performance.now() + writeTimeoutMs
    for (;;) {
      const turn = writes.acquire(caller)
      if (turn !== undefined) await turn
      const running = readiness.started()
      const beginMs = performance.now()
      let isWritten = false
      let isPending = false
      const end = () => {
        readiness.ended(running, isWritten)
        writes.release(caller, performance.now() - beginMs)
      }
      try {
        const result = await transaction()
        isWritten = true
        return result
      } catch (error) {
        isPending = isUnanswered(error)
        if (!(error instanceof Conflict) || performance.now() >= deadlineMs) throw error
      } finally {
        if (isPending) void commitsEnded(executor).then(end)
        else end()
      }
      await sleep(Math.random() * MAX_RETRY_DELAY_MS)
    }
  }
  return {
    stepRows: STEP_ROWS,
    read,
    write: (work, { lockKey, autocommit = false, isLarge = false, isDryRun = false, caller }) => {
      const retried = <T>(run: () => Promise<T>) => withRetries(run, caller)
      if (autocommit && lockKey === undefined) return retried(() => work(singleWriteOnly(executor)))
      const run = () =>
        lockKey === undefined
          ? retried(() => transaction(work, undefined))
          : oneByOne(lockKey, () => retried(() => transaction(work, lockIdOf(lockKey))))
      return isLarge || isDryRun ? large.run(run, caller) : run()
    },
    connections: () => ({
      busy: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waiting + writes.waiting,
    }),
    isOverloaded: (caller) => pool.isOverloaded(caller) || longReads.isOverloaded(caller),
    following: {
      writers: async () => {
        const [row] = await executor.all({ text: AUDIT_WRITERS, values: [] })
        const { isStandby, writers } = row as { isStandby: boolean; writers: string[] }
        if (isStandby) throw new ReadOnly('it is a standby, and only its primary knows the order of changes')
        return writers
      },
    },
    ping: () => readiness.check(),
    close: async () => {
      await readiness.close()
      await pool.end()
    },
  }
}

/** Whether a write was sent, and PostgreSQL was silent for longer than a statement may take. */
function isUnanswered(error: unknown): boolean {
  return error instanceof InDoubt && error.cause instanceof Error && sqlState(error.cause) === 'ETIMEDOUT'
}

/**
 * Waits while commits wait for a synchronous standby. Their server processes outlive their connections, and without a bound they
 * would take all connections of the server, those of reads included.
 */
async function commitsEnded(executor: Executor): Promise<void> {
  try {
    while ((await executor.all({ text: PENDING_COMMIT, values: [] })).length > 0)
      await sleep(PENDING_CHECK_MS, undefined, { ref: false })
  } catch {
    // The server is away, and with it its processes.
  }
}

/**
 * Runs work with the same key one after another: waiting for an advisory lock occupies a connection, and so only one per
 * process and key does.
 */
function keyedSlots(maxWaitMs: number) {
  const keys = new Map<string, { slots: Slots; users: number }>()
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const options = { maxWaitMs, maxWaiting: MAX_WAITING_PER_KEY, what: 'writes with the same lock key' }
    const entry = keys.get(key) ?? { slots: new Slots(1, options), users: 0 }
    keys.set(key, entry)
    entry.users++
    try {
      return await entry.slots.run(work)
    } finally {
      if (--entry.users === 0) keys.delete(key)
    }
  }
}

/** Whether every search index exists: a migration omits them where the extension is unavailable. */
async function hasSearchIndexes(executor: Executor): Promise<boolean> {
  const searched = Object.values(declarations).filter(({ search }) => search.length > 0)
  const indexes = searched.map(({ name }) => `${name}_search_idx`)
  const text = `SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND indexname = ANY(?::text[])`
  return (await executor.all({ text, values: [indexes] })).length === indexes.length
}

/** The id of an advisory lock. A collision of two keys only makes their writes wait for each other. */
function lockIdOf(lockKey: string): bigint {
  return createHash('sha256').update(lockKey).digest().readBigInt64BE()
}
