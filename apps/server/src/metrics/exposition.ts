import type { Database } from '@resource/database'
import { AggregatorRegistry, collectDefaultMetrics, type Metric, type MetricObject, Registry } from 'prom-client'
import type { Connections } from '../connections/connections.ts'
import { hashingQueue } from '../passwords/hashing.ts'
import { countReplays } from '../store/idempotency.ts'
import { CLASSES, type Family, type Metrics, type Timings } from './metrics.ts'

/** Where figures stand that others keep. */
export interface Sources {
  database: Database
  connections: () => Connections
  /** How many requests a limit has refused. */
  refused: () => { rate_limit: number; overload: number }
}

interface Sample {
  metricName?: string
  labels: Record<string, string | number>
  value: number
}

/** What this process has counted, in the forms of Prometheus. Figures of the process itself begin here. */
export function createRegistry(metrics: Metrics, { database, connections: clients, refused }: Sources): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const add = (
    type: 'counter' | 'gauge' | 'histogram',
    name: string,
    help: string,
    read: (name: string) => Sample[],
  ) => {
    const get = async () => ({ name, help, type, aggregator: 'sum', values: read(name) })
    // Whatever has a name and `get` is a metric to the registry; prom-client's own would look up labels at each call.
    registry.registerMetric({ name, get } as unknown as Metric)
  }
  add('histogram', 'resource_call_duration_seconds', 'Calls of procedures, by outcome.', histogram(metrics.calls))
  add(
    'histogram',
    'resource_database_duration_seconds',
    'Queries by table; transactions with the wait for their turn.',
    histogram(metrics.work),
  )
  add(
    'counter',
    'resource_http_answers_total',
    'Requests that have ended, by method and status; aborted where the caller went first.',
    () => counts(metrics.answers),
  )
  add('counter', 'resource_denied_total', 'Requests refused with 401, 403 or 429, by reason.', () =>
    counts(metrics.refusals),
  )
  add('gauge', 'resource_http_requests_open', 'Requests under way, those that wait for their client too.', () =>
    single([...clients().answers()].length),
  )
  add('gauge', 'resource_http_connections', 'Connections, by what they are at.', () => by('state', clients().states()))
  add(
    'counter',
    'resource_http_connections_closed_total',
    'Connections closed because too many of their address, or of all, waited for their client.',
    () => by('bound', clients().closed()),
  )
  add('counter', 'resource_refused_total', 'Requests that a limit refused.', () =>
    by('limit', { ...refused(), password_queue: hashingQueue().refused }),
  )
  add('counter', 'resource_unexpected_errors_total', 'Errors answered with a 500, and errors of no request.', () =>
    single(metrics.unexpected()),
  )
  add('gauge', 'resource_passwords', 'Passwords that are hashed or wait for it.', () => {
    const { running, waiting } = hashingQueue()
    return by('state', { running, waiting })
  })
  add('counter', 'resource_replays_total', 'First answers given again for a repeated Idempotency-Key.', () =>
    single(countReplays()),
  )
  const { connections } = database
  if (connections !== undefined) {
    add(
      'gauge',
      'resource_database_connections',
      'Connections of the pool to PostgreSQL; and the queries that wait for one.',
      () => by('state', connections()),
    )
  }
  return registry
}

/** The figures of several processes as those of one. */
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
  return family.all().map(({ labels, figure }) => ({ labels, value: figure.count }))
}

function histogram(family: Family<Timings>): (name: string) => Sample[] {
  return (name) =>
    family.all().flatMap(({ labels, figure: { counts, sumSeconds } }) => {
      let count = 0
      const buckets = counts.map((inClass, index) => {
        count += inClass
        return { metricName: `${name}_bucket`, labels: { ...labels, le: CLASSES[index] ?? '+Inf' }, value: count }
      })
      if (count === 0) return []
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: sumSeconds },
        { metricName: `${name}_count`, labels, value: count },
      ]
    })
}
