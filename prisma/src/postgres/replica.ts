import type pg from 'pg'
import { Conflict, Unreachable } from '../errors.ts'
import { mapTables, type Tables } from '../tables.ts'
import type { BoundedPool } from './bounded-pool.ts'
import type { Access } from './database.ts'
import { reasonOf } from './errors.ts'

export interface ReplicaChange {
  /** `postgresql://host:5432/database` */
  replica: string
  serves: boolean
  reason?: string
}

/** How far a server has written or replayed, in bytes from its beginning, and which database it has. */
export interface Position {
  /** Null of a server that replays nothing. */
  bytes: number | null
  origin: string
}

/** How far the primary had written by a time of our own clock. */
export interface Mark {
  time: number
  bytes: number
  origin: string
}

interface ReplicaOptions {
  label: string
  primary: Tables
  longestLagMs: number
  onChange: (change: ReplicaChange) => void
}

const REPLAYED = `SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::float8 AS bytes,
  system_identifier || ' ' || current_database() AS origin FROM pg_control_system()`

export class Replica {
  /** Its tables; where it cannot be reached, the primary's. */
  readonly tables: Tables
  readonly #pool: BoundedPool
  readonly #access: Access
  readonly #questions: pg.Pool
  readonly #options: ReplicaOptions
  /** All that was answered before this time can be read here. */
  #upTo = Number.NEGATIVE_INFINITY
  #isAsked = false
  #serves: boolean | undefined

  constructor(pool: BoundedPool, access: Access, questions: pg.Pool, options: ReplicaOptions) {
    this.#pool = pool
    this.#access = access
    this.#questions = questions
    this.#options = options
    this.tables = withFallback(access.read, options.primary, (error) => this.#leaveOut(reasonOf(error.cause)))
  }

  isClose(): boolean {
    return performance.now() - this.#upTo <= this.#options.longestLagMs
  }

  isCrowded(): boolean {
    return this.#pool.isCrowded()
  }

  /** Tells when it has grown too old since somebody who was asked last answered. */
  noticeAge(reason: string): void {
    if (this.#serves && !this.isClose()) this.#leaveOut(reason)
  }

  /** Asks how far it is, one question at a time. */
  async look(marks: Mark[]): Promise<void> {
    if (this.#isAsked) return this.noticeAge('it does not answer')
    this.#isAsked = true
    try {
      const [{ bytes, origin }] = (await this.#questions.query<Position>(REPLAYED)).rows as [Position]
      if (bytes === null || origin !== marks.at(-1)?.origin) return this.#leaveOut('it is no replica of the database')
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
    await this.#access.close()
    await Promise.all([this.#pool.end(), this.#questions.end()])
  }

  #leaveOut(reason: string): void {
    this.#upTo = Number.NEGATIVE_INFINITY
    this.#tell(false, reason)
  }

  #tell(serves: boolean, reason?: string): void {
    if (this.#serves === serves) return
    this.#serves = serves
    this.#options.onChange({ replica: this.#options.label, serves, ...(reason !== undefined && { reason }) })
  }
}

// A read for which there was no time is not passed on: the primary would be overloaded next.
function withFallback(replica: Tables, primary: Tables, onUnreachable: (error: Unreachable) => void): Tables {
  return mapTables((_, name) => {
    const [own, other] = [replica[name], primary[name]] as unknown as [Reads, Reads]
    const read = (method: 'find' | 'page' | 'count') => (query: unknown) =>
      own[method](query).catch((error: unknown) => {
        if (error instanceof Unreachable) onUnreachable(error)
        // What the replica had to replay stood in the way of the read.
        else if (!(error instanceof Conflict)) throw error
        return other[method](query)
      })
    return { ...other, find: read('find'), page: read('page'), count: read('count') }
  }) as unknown as Tables
}

/** What reads a table, whatever its rows are. */
type Reads = Record<'find' | 'page' | 'count', (query: unknown) => Promise<unknown>>
