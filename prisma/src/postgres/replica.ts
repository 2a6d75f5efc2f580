import type pg from 'pg'
import type { ReplicaChange } from '../database.ts'
import { Conflict, Unreachable } from '../errors.ts'
import { readOnly } from '../guarded.ts'
import { withLongReads } from '../long-reads.ts'
import { reasonOf } from '../postgres-errors.ts'
import type { Executor } from '../sql-table.ts'
import type { BoundedPool } from './bounded-pool.ts'
import type { Driver } from './driver.ts'

/** A server's WAL position (bytes written or replayed) and the identity of its database. */
export interface Position {
  bytes: number
  origin: string
  /** Promotion starts a new timeline, on which the same position is different data. */
  timeline: number
}

/** A position of the primary with the local time before it was queried. */
export interface PrimaryPosition extends Position {
  time: number
}

interface ReplicaPosition extends Position {
  is_replica: boolean
}

interface ReplicaOptions {
  label: string
  /** Serves reads when the replica is unreachable. */
  primary: Executor
  maxLagMs: number
  onChange: (change: ReplicaChange) => void
}

// The timeline of the WAL receiver is visible to superusers and members of pg_read_all_stats only. The fallback is updated by
// the next restart point, by default five minutes after a failover; until then the replica is out of rotation.
const REPLAYED = `SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::float8 AS bytes,
  system_identifier || ' ' || current_database() AS origin, pg_is_in_recovery() AS is_replica,
  coalesce((SELECT received_tli FROM pg_stat_wal_receiver),
    (SELECT greatest(c.timeline_id, r.min_recovery_end_timeline) FROM pg_control_checkpoint() c, pg_control_recovery() r))
    AS timeline
  FROM pg_control_system()`

export class Replica {
  /** Reads from the replica. */
  readonly executor: Executor
  readonly #pool: BoundedPool
  readonly #driver: Driver
  readonly #probePool: pg.Pool
  readonly #options: ReplicaOptions
  /** The replica has all commits that were confirmed before this time. */
  #freshAt = Number.NEGATIVE_INFINITY
  #isProbing = false
  #lastChange: Omit<ReplicaChange, 'replica'> | undefined

  constructor(pool: BoundedPool, driver: Driver, probePool: pg.Pool, options: ReplicaOptions) {
    this.#pool = pool
    this.#driver = driver
    this.#probePool = probePool
    this.#options = options
    const executor = withFallback(driver.executor, options.primary, (error) => this.#remove(reasonOf(error.cause)))
    this.executor = withLongReads(executor, pool.options.max)
  }

  isFresh(): boolean {
    return performance.now() - this.#freshAt <= this.#options.maxLagMs
  }

  isOverloaded(): boolean {
    return this.#pool.isOverloaded()
  }

  /** Reports the replica as out of rotation if its last known position has become too old. */
  reportIfStale(reason: string): void {
    if (this.#lastChange?.serves && !this.isFresh()) this.#remove(reason)
  }

  /** Queries the replica's position; a single query runs at a time. */
  async probe(history: PrimaryPosition[]): Promise<void> {
    if (this.#isProbing) return this.reportIfStale('the replica does not respond')
    this.#isProbing = true
    try {
      const [{ bytes, origin, timeline, is_replica }] = (await this.#probePool.query(REPLAYED)).rows as [
        ReplicaPosition,
      ]
      const newest = history.at(-1)
      if (!is_replica || origin !== newest?.origin) return this.#remove('not a replica of the primary')
      if (timeline !== newest.timeline) return this.#remove('on a different timeline than the primary')
      const reached = history.findLast((position) => position.bytes <= bytes)
      if (reached !== undefined) this.#freshAt = reached.time
      if (this.isFresh()) this.#report(true)
      else this.#remove('replication lag exceeds the maximum')
    } catch (error) {
      this.#remove(reasonOf(error))
    } finally {
      this.#isProbing = false
    }
  }

  async close(): Promise<void> {
    await this.#driver.close()
    await Promise.all([this.#pool.end(), this.#probePool.end()])
  }

  /** Takes the replica out of rotation. */
  #remove(reason: string): void {
    this.#freshAt = Number.NEGATIVE_INFINITY
    this.#report(false, reason)
  }

  #report(serves: boolean, reason?: string): void {
    if (this.#lastChange?.serves === serves && this.#lastChange.reason === reason) return
    this.#lastChange = { serves, ...(reason !== undefined && { reason }) }
    this.#options.onChange({ replica: this.#options.label, ...this.#lastChange })
  }
}

// A read that fails as busy does not fall back: it would overload the primary next.
function withFallback(replica: Executor, primary: Executor, onUnreachable: (error: Unreachable) => void): Executor {
  const all: Executor['all'] = async (statement) => {
    try {
      return await replica.all(statement)
    } catch (error) {
      if (error instanceof Unreachable) onUnreachable(error)
      // The read conflicted with WAL replay on the replica.
      else if (!(error instanceof Conflict)) throw error
      return primary.all(statement)
    }
  }
  return readOnly({ ...primary, all })
}
