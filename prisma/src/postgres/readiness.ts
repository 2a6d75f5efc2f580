import type pg from 'pg'
import type { PoolSettings } from '../database.ts'
import { Busy, ReadOnly, Unreachable, Unusable } from '../errors.ts'
import type { Slots } from '../slots.ts'
import { declarations } from '../tables/declarations.ts'
import { quote } from '../tables/sql.ts'
import { fromPostgres, NO_PRIVILEGE, sqlState } from './errors.ts'
import { type FairPool, openPool } from './pool.ts'
import { ROLE } from './server-role.ts'
import type { Servers, SharedUrl } from './servers.ts'

const LIMIT_MS = 800
// A write that has taken longer may wait for a commit that a lost synchronous standby never confirms.
const SLOW_WRITE_MS = 1_000
// Locks of other sessions hold all connections if reads wait and none has begun for this long, or writes wait and none has
// completed for this long. Bulk writes may take seconds.
const LONG_READ_WAIT_MS = 1_000
const LONG_WRITE_WAIT_MS = 5_000
const TOO_MANY_CONNECTIONS = '53300'
const NO_COMMIT = 'a commit does not complete'

const TABLES = Object.values(declarations).map(({ name }) => `'${quote(name)}'`)
// A table that does not exist has no privileges.
const hasOnAll = (privilege: string) =>
  `(SELECT bool_and(coalesce(has_table_privilege(to_regclass(name), '${privilege}'), false)) FROM unnest(ARRAY[${TABLES.join(', ')}]) AS name)`
/** The sessions of all instances whose commits a synchronous standby has not confirmed. */
export const UNCONFIRMED = `pg_stat_activity WHERE wait_event = 'SyncRep' AND usename = current_user`
// To find out with a commit of its own would leave another process that waits.
const IS_STUCK = `EXISTS (SELECT FROM ${UNCONFIRMED} AND clock_timestamp() - state_change > interval '${SLOW_WRITE_MS} ms')`
const STATE = `SELECT ${ROLE},
  ${hasOnAll('SELECT')} AS can_read, ${hasOnAll('INSERT')} AS can_write, ${IS_STUCK} AS is_stuck`
// The smallest commit that is written to disk and to synchronous standbys.
const COMMIT = `SELECT pg_logical_emit_message(true, 'resource-service', 'ready')`

/** A write in progress. */
interface Running {
  readonly sinceMs: number
}

/** Checks whether PostgreSQL serves reads and writes, on a connection of its own: those of the pool may all be in use. */
export class Readiness {
  readonly #pool: pg.Pool
  readonly #shared: FairPool
  readonly #servers: Servers | undefined
  readonly #writes: Slots
  /** The start times of the writes in progress, in order. */
  readonly #running = new Set<Running>()
  #lastWriteMs = Number.NEGATIVE_INFINITY

  /**
   * @param shared serves reads and writes. It is used while the server has no free connection for another one
   * @param writes the slots of the writes
   */
  constructor(url: SharedUrl, settings: PoolSettings, shared: FairPool, writes: Slots) {
    this.#pool = openPool(url, { ...settings, poolSize: 1, connectTimeoutMs: LIMIT_MS, statementTimeoutMs: LIMIT_MS })
    this.#shared = shared
    this.#servers = url.servers
    this.#writes = writes
  }

  /** Observes a write, until {@link ended}. */
  started(): Running {
    const running = { sinceMs: performance.now() }
    this.#running.add(running)
    return running
  }

  ended(running: Running, isWritten: boolean): void {
    this.#running.delete(running)
    if (isWritten) this.#lastWriteMs = performance.now()
  }

  /**
   * @throws Unusable if a table or a privilege is missing; ReadOnly if the server is a standby or read-only, or does not complete
   * a commit, or writes wait for locks; Busy if reads do; Unreachable without an answer within {@link LIMIT_MS}
   */
  async check(): Promise<void> {
    let client: pg.PoolClient | undefined
    let isReading = true
    let isLate = false
    const work = async () => {
      client = await this.#connect()
      if (isLate) return client.release(true)
      const { can_read, can_write, is_stuck, ...role } = (await client.query(STATE)).rows[0]
      this.#servers?.verify(client, role)
      if (!can_read) throw new Unusable('a table is missing, or its role may not read it')
      if (role.isStandby) throw new ReadOnly('it is a standby')
      if (role.isReadOnly) throw new ReadOnly('it is read-only')
      if (!can_write) throw new ReadOnly(NO_PRIVILEGE)
      if (is_stuck) throw new ReadOnly(NO_COMMIT)
      if (this.#shared.stalledMs > LONG_READ_WAIT_MS) throw new Busy('All connections wait for locks.')
      isReading = false
      const stuckMs = this.#stuckMs()
      if (this.#writes.waiting > 0 && stuckMs > LONG_WRITE_WAIT_MS)
        throw new ReadOnly('all connections for writes wait for locks')
      if (stuckMs > SLOW_WRITE_MS) await client.query(COMMIT)
    }
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      isLate = true
      reject(isReading ? new Unreachable('PostgreSQL does not answer.') : new ReadOnly(NO_COMMIT))
    }, LIMIT_MS)
    const working = work()
    // Rejects later than `late` if its connection is closed.
    working.catch(() => {})
    try {
      await Promise.race([working, late])
      client?.release()
    } catch (error) {
      client?.release(!(error instanceof ReadOnly) || isLate)
      throw fromPostgres(error)
    } finally {
      clearTimeout(timer)
    }
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #connect(): Promise<pg.PoolClient> {
    // A connection of this check's own must not be the only one that the server permits.
    if (this.#shared.totalCount === 0) return this.#shared.connect()
    try {
      return await this.#pool.connect()
    } catch (error) {
      if (sqlState(error as object) !== TOO_MANY_CONNECTIONS) throw error
      return this.#shared.connect()
    }
  }

  /** For how long a write has been running and none has completed, in milliseconds. */
  #stuckMs(): number {
    const [first] = this.#running
    return first === undefined ? 0 : performance.now() - Math.max(first.sinceMs, this.#lastWriteMs)
  }
}
