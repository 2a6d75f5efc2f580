import type pg from 'pg'
import type { ReplicaChange } from '../database.ts'
import { Conflict, Unreachable } from '../errors.ts'
import { readOnly } from '../guarded.ts'
import { reasonOf } from '../postgres-errors.ts'
import type { Executor } from '../sql-table.ts'
import type { BoundedPool } from './bounded-pool.ts'
import type { Driver } from './driver.ts'

/** How far a server has written or replayed, in bytes from its beginning, and which database it has. */
export interface Position {
  bytes: number
  origin: string
  /** A promoted server begins another timeline: the same position is then other data. */
  timeline: number
}

/** How far the primary had written by a time of our own clock. */
export interface Mark extends Position {
  time: number
}

interface Replayed extends Position {
  is_replica: boolean
}

interface ReplicaOptions {
  label: string
  /** Answers where the replica cannot be reached. */
  primary: Executor
  longestLagMs: number
  onChange: (change: ReplicaChange) => void
}

// The timeline of the stream is for superusers and members of pg_read_all_stats to see. What others see follows a failover
// as late as the next restart point, five minutes as PostgreSQL comes, and until then such a replica does not serve.
const REPLAYED = `SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::float8 AS bytes,
  system_identifier || ' ' || current_database() AS origin, pg_is_in_recovery() AS is_replica,
  coalesce((SELECT received_tli FROM pg_stat_wal_receiver),
    (SELECT greatest(c.timeline_id, r.min_recovery_end_timeline) FROM pg_control_checkpoint() c, pg_control_recovery() r))
    AS timeline
  FROM pg_control_system()`

export class Replica {
  /** Reads from it. */
  readonly executor: Executor
  readonly #pool: BoundedPool
  readonly #driver: Driver
  readonly #questions: pg.Pool
  readonly #options: ReplicaOptions
  /** All that was answered before this time can be read here. */
  #upTo = Number.NEGATIVE_INFINITY
  #isAsked = false
  #last: Omit<ReplicaChange, 'replica'> | undefined

  constructor(pool: BoundedPool, driver: Driver, questions: pg.Pool, options: ReplicaOptions) {
    this.#pool = pool
    this.#driver = driver
    this.#questions = questions
    this.#options = options
    this.executor = withFallback(driver.executor, options.primary, (error) => this.#leaveOut(reasonOf(error.cause)))
  }

  isClose(): boolean {
    return performance.now() - this.#upTo <= this.#options.longestLagMs
  }

  isCrowded(): boolean {
    return this.#pool.isCrowded()
  }

  /** Tells when it has grown too old since somebody who was asked last answered. */
  noticeAge(reason: string): void {
    if (this.#last?.serves && !this.isClose()) this.#leaveOut(reason)
  }

  /** Asks how far it is, one question at a time. */
  async look(marks: Mark[]): Promise<void> {
    if (this.#isAsked) return this.noticeAge('it does not answer')
    this.#isAsked = true
    try {
      const [{ bytes, origin, timeline, is_replica }] = (await this.#questions.query(REPLAYED)).rows as [Replayed]
      const newest = marks.at(-1)
      if (!is_replica || origin !== newest?.origin) return this.#leaveOut('it is no replica of the database')
      if (timeline !== newest.timeline) return this.#leaveOut('it follows another timeline than the primary')
      const mark = marks.findLast((mark) => mark.bytes <= bytes)
      if (mark !== undefined) this.#upTo = mark.time
      if (this.isClose()) this.#tell(true)
      else this.#leaveOut('it is too far behind')
    } catch (error) {
      this.#leaveOut(reasonOf(error))
    } finally {
      this.#isAsked = false
    }
  }

  async close(): Promise<void> {
    await this.#driver.close()
    await Promise.all([this.#pool.end(), this.#questions.end()])
  }

  #leaveOut(reason: string): void {
    this.#upTo = Number.NEGATIVE_INFINITY
    this.#tell(false, reason)
  }

  #tell(serves: boolean, reason?: string): void {
    if (this.#last?.serves === serves && this.#last.reason === reason) return
    this.#last = { serves, ...(reason !== undefined && { reason }) }
    this.#options.onChange({ replica: this.#options.label, ...this.#last })
  }
}

// A read for which there was no time is not passed on: the primary would be overloaded next.
function withFallback(replica: Executor, primary: Executor, onUnreachable: (error: Unreachable) => void): Executor {
  const all: Executor['all'] = async (statement) => {
    try {
      return await replica.all(statement)
    } catch (error) {
      if (error instanceof Unreachable) onUnreachable(error)
      // What the replica had to replay stood in the way of the read.
      else if (!(error instanceof Conflict)) throw error
      return primary.all(statement)
    }
  }
  return readOnly({ ...primary, all })
}
