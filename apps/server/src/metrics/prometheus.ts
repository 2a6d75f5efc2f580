import type { Database } from '@resource/database'
import { AggregatorRegistry, collectDefaultMetrics, type Metric, type MetricObject, Registry } from 'prom-client'
import type { Followers } from '../changes/followers.ts'
import type { Connections } from '../connections/connections.ts'
import { hashingQueue } from '../passwords/hash-queue.ts'
import { replayCount } from '../store/idempotency.ts'
import type { Family, Metrics } from './metrics.ts'
import { BUCKETS, type Timings } from './timings.ts'

/** Sources of values that other modules count. */
export interface Sources {
  database: Database
  connections: () => Connections
  followers: Followers
  /** The number of requests that each limit has refused. */
  refused: () => { rate_limit: number; overload: number }
}

interface Sample {
  metricName?: string
  labels: Record<string, string | number>
  value: number
}

/** Creates a Prometheus registry of this process's metrics. Collection of Node's default metrics starts here. */
export function createRegistry(
  metrics: Metrics,
  { database, connections: clients, followers, refused }: Sources,
): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const add = (
    type: 'counter' | 'gauge' | 'histogram',
    name: string,
    help: string,
    read: (name: string) => Sample[],
    aggregator: 'sum' | 'max' = 'sum',
  ) => {
    const get = async () => ({ name, help, type, aggregator, values: read(name) })
    // The registry accepts any object with `name` and `get`. prom-client's own classes would look up labels at each call.
    registry.registerMetric({ name, get } as unknown as Metric)
  }
  add('histogram', 'resource_call_duration_seconds', 'Calls of procedures, by outcome.', histogram(metrics.calls))
  add(
    'histogram',
    'resource_database_duration_seconds',
    'Queries by table, and transactions including their time in the queue.',
    histogram(metrics.work),
  )
  add(
    'counter',
    'resource_http_answers_total',
    'Finished requests, by method and status; the status is aborted if the client disconnected first.',
    () => counts(metrics.responses),
  )
  add('counter', 'resource_denied_total', 'Requests refused with 401, 403 or 429, by reason.', () =>
    counts(metrics.refusals),
  )
  add('gauge', 'resource_http_requests_open', 'Requests in progress, including those that wait for their client.', () =>
    single([...clients().responses()].length),
  )
  add('gauge', 'resource_http_connections', 'Connections by state.', () => by('state', clients().states()))
  add(
    'counter',
    'resource_http_connections_closed_total',
    'Connections closed by a limit, because they waited for their client or sent too many requests ahead.',
    () => by('bound', clients().closed()),
  )
  add('counter', 'resource_refused_total', 'Requests refused by a limit.', () =>
    by('limit', { ...refused(), password_queue: hashingQueue().refused }),
  )
  add('counter', 'resource_unexpected_errors_total', 'Errors that caused a 500, and errors outside of requests.', () =>
    single(metrics.unexpected()),
  )
  add('gauge', 'resource_passwords', 'Passwords being hashed or waiting to be hashed.', () => {
    const { running, waiting } = hashingQueue()
    return by('state', { running, waiting })
  })
  add('counter', 'resource_replays_total', 'Stored responses replayed for a repeated Idempotency-Key.', () =>
    single(replayCount()),
  )
  add('gauge', 'resource_changes_followers', 'Streams of changes, and requests that wait for one.', () =>
    single(followers.size),
  )
  const age = (of: 'head' | 'gap') => () => single(followers.tailer.ages()[of])
  add('gauge', 'resource_changes_age_seconds', 'Time since the log of changes was last read.', age('head'), 'max')
  add('gauge', 'resource_changes_gap_age_seconds', 'Time that a missing id holds up later changes.', age('gap'), 'max')
  const { connections } = database
  if (connections !== undefined) {
    add(
      'gauge',
      'resource_database_connections',
      'Connections of the PostgreSQL pool, and queries that wait for one.',
      () => by('state', connections()),
    )
  }
  return registry
}

/** Adds up the metrics of several processes. */
export function sum(processes: MetricObject[][]): Promise<string> {
  return AggregatorRegistry.aggregate(processes).metrics()
}

function single(value: number): Sample[] {
  return [{ labels: {}, value }]
}

function by(label: string, values: object): Sample[] {
  return Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }))
}

function counts(family: Family<{ count: number }>): Sample[] {
  return family.all().map(({ labels, value: { count } }) => ({ labels, value: count }))
}

function histogram(family: Family<Timings>): (name: string) => Sample[] {
  return (name) =>
    family.all().flatMap(({ labels, value: { counts, sumSeconds } }) => {
      let count = 0
      const buckets = counts.map((inBucket, index) => {
        count += inBucket
        return { metricName: `${name}_bucket`, labels: { ...labels, le: BUCKETS[index] ?? '+Inf' }, value: count }
      })
      if (count === 0) return []
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: sumSeconds },
        { metricName: `${name}_count`, labels, value: count },
      ]
    })
}
