import type pg from 'pg'
import type { PoolSettings, ReplicaSettings } from '../database.ts'
import { reasonOf } from '../postgres-errors.ts'
import type { Executor } from '../sql-table.ts'
import type { Driver } from './driver.ts'
import { openPool } from './pool.ts'
import { type Position, type PrimaryPosition, Replica } from './replica.ts'
import { type PostgresUrl, readPostgresUrl } from './url.ts'

const MAX_INTERVAL_MS = 1_000
const PROBE_TIMEOUT_MS = 1_000
const PROBES_PER_LAG = 5

// The flushed position: it includes every confirmed commit.
const FLUSHED = `SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::float8 AS bytes,
  system_identifier || ' ' || current_database() AS origin,
  ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::int AS timeline FROM pg_control_system()`

/**
 * Reads the URL of a replica, which has the schema of the primary.
 *
 * @throws Error that names the setting
 */
export function readReplicaUrl(url: string, { schema }: PostgresUrl): PostgresUrl {
  try {
    return { ...readPostgresUrl(url), schema }
  } catch (error) {
    throw new Error(`DATABASE_REPLICA_URLS: ${reasonOf(error)}`)
  }
}

/**
 * Distributes reads over the replicas within the maximum lag (round robin), or to the primary when there are none.
 *
 * The primary's WAL position is queried several times per maximum lag. A replica that has replayed up to it has all commits
 * that were confirmed before the query. This gives the replica's age without comparing the clocks of two servers. A replica
 * that is unreachable, slow or has lost its WAL stream becomes too old in the same way.
 *
 * @param primary read-only executor that serves when a replica fails
 * @param open returns the driver for a pool
 */
export async function openReplicas(
  url: PostgresUrl,
  replicaUrls: PostgresUrl[],
  primary: Executor,
  settings: PoolSettings & ReplicaSettings,
  open: (pool: pg.Pool) => Promise<Driver>,
) {
  const { replicaLagMs = 5_000, onReplica = () => {} } = settings
  if (replicaUrls.length === 0) return { next: () => primary, areOverloaded: () => true, close: async () => {} }

  // Probes use separate connections, so that they do not wait for reads.
  const probeSettings = { ...settings, poolSize: 1, statementTimeoutMs: PROBE_TIMEOUT_MS }
  const openReplica = async (url: PostgresUrl) => {
    const pool = openPool(url, settings)
    const options = { label: url.label, primary, maxLagMs: replicaLagMs, onChange: onReplica }
    return new Replica(pool, await open(pool), openPool(url, probeSettings), options)
  }
  const replicas = await Promise.all(replicaUrls.map(openReplica))
  const probePool = openPool(url, probeSettings)
  let history: PrimaryPosition[] = []
  const probe = async () => {
    const time = performance.now()
    const [position] = (await probePool.query<Position>(FLUSHED)).rows as [Position]
    const isRecent = (earlier: PrimaryPosition) =>
      time - earlier.time <= replicaLagMs && earlier.timeline === position.timeline
    history = [...history.filter(isRecent), { time, ...position }]
    for (const replica of replicas) replica.probe(history)
  }
  // While the primary does not respond, the lag of the replicas is unknown and their last positions become too old.
  const tick = () =>
    void probe().catch(() => {
      for (const replica of replicas) replica.reportIfStale('the primary does not respond')
    })
  tick()
  const timer = setInterval(tick, Math.min(replicaLagMs / PROBES_PER_LAG, MAX_INTERVAL_MS)).unref()

  let position = 0
  return {
    /** The next replica in rotation, or the primary. */
    next: () => {
      for (const _ of replicas) {
        const replica = replicas[position++ % replicas.length] as Replica
        if (replica.isFresh()) return replica.executor
      }
      return primary
    },
    /** Whether every replica in rotation is overloaded. */
    areOverloaded: () => replicas.every((replica) => !replica.isFresh() || replica.isOverloaded()),
    close: async () => {
      clearInterval(timer)
      await Promise.all([probePool.end(), ...replicas.map((replica) => replica.close())])
    },
  }
}
