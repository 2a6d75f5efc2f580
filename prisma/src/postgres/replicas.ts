import type pg from 'pg'
import type { PoolSettings, ReplicaSettings } from '../database.ts'
import type { Executor } from '../sql-table.ts'
import type { Driver } from './driver.ts'
import { openPool } from './pool.ts'
import { type Mark, type Position, Replica } from './replica.ts'
import { type PostgresUrl, readPostgresUrl } from './url.ts'

const LONGEST_PAUSE_MS = 1_000
const QUESTION_MS = 1_000
const LOOKS_PER_LAG = 5

// As far as it is on disk, which is before an answer is sent.
const WRITTEN = `SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::float8 AS bytes,
  system_identifier || ' ' || current_database() AS origin,
  ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::int AS timeline FROM pg_control_system()`

/**
 * Reads from the replicas that are close enough to the primary, in turn, and from the primary when there is none.
 *
 * Several times within the longest lag the primary is asked how far it has written. A replica that has replayed as much
 * shows all that was answered before that question: so its age is known without comparing the clocks of two machines,
 * and one that cannot be reached, has lost its stream or is slow grows too old all the same.
 *
 * @param primary answers where a replica fails; it cannot write
 * @param open gives the driver by a pool
 * @throws Error when a URL is malformed
 */
export async function openReplicas(
  url: PostgresUrl,
  primary: Executor,
  settings: PoolSettings & ReplicaSettings,
  open: (pool: pg.Pool, url: PostgresUrl) => Promise<Driver>,
) {
  const { replicaUrls = [], replicaLagMs = 5_000, onReplica = () => {} } = settings
  if (replicaUrls.length === 0) return { next: () => primary, areCrowded: () => true, close: async () => {} }

  // Questions have connections of their own: they must not wait for reads.
  const forQuestions = { ...settings, poolSize: 1, statementTimeoutMs: QUESTION_MS }
  const openReplica = async (url: PostgresUrl) => {
    const pool = openPool(url, settings)
    const options = { label: url.label, primary, longestLagMs: replicaLagMs, onChange: onReplica }
    return new Replica(pool, await open(pool, url), openPool(url, forQuestions), options)
  }
  const replicas = await Promise.all(replicaUrls.map(readPostgresUrl).map(openReplica))
  const questions = openPool(url, forQuestions)
  let marks: Mark[] = []
  const look = async () => {
    const time = performance.now()
    const [position] = (await questions.query<Position>(WRITTEN)).rows as [Position]
    const isRecent = (mark: Mark) => time - mark.time <= replicaLagMs && mark.timeline === position.timeline
    marks = [...marks.filter(isRecent), { time, ...position }]
    for (const replica of replicas) replica.look(marks)
  }
  // While the primary does not answer nobody knows how far behind a replica is: each grows too old.
  const tick = () =>
    void look().catch(() => {
      for (const replica of replicas) replica.noticeAge('the primary does not answer')
    })
  tick()
  const timer = setInterval(tick, Math.min(replicaLagMs / LOOKS_PER_LAG, LONGEST_PAUSE_MS)).unref()

  let turn = 0
  return {
    /** The next replica, or the primary. */
    next: () => {
      for (const _ of replicas) {
        const replica = replicas[turn++ % replicas.length] as Replica
        if (replica.isClose()) return replica.executor
      }
      return primary
    },
    /** Whether on each that serves a read would have to wait for too long. */
    areCrowded: () => replicas.every((replica) => !replica.isClose() || replica.isCrowded()),
    close: async () => {
      clearInterval(timer)
      await Promise.all([questions.end(), ...replicas.map((replica) => replica.close())])
    },
  }
}
