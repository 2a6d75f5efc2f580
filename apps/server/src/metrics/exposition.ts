import type { Database } from '@resource/database'
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  type Histogram,
  type MetricObject,
  Registry,
} from 'prom-client'
import type { Connections } from '../connections/connections.ts'
import { hashingQueue } from '../passwords/hashing.ts'
import { countReplays } from '../store/idempotency.ts'
import { CLASSES, type LabelledTimings, type Metrics } from './metrics.ts'

/** Where figures stand that others keep. */
export interface Sources {
  database: Database
  connections: () => Connections
  /** How many requests a limit has refused. */
  refused: () => { rate_limit: number; overload: number }
}

/** What this process has counted, in the forms of Prometheus. Figures of the process itself begin here. */
export function createRegistry(metrics: Metrics, { database, connections: clients, refused }: Sources): Registry {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  addHistogram(registry, 'resource_call_duration_seconds', 'Calls of procedures, by outcome.', metrics.calls)
  addHistogram(
    registry,
    'resource_database_duration_seconds',
    'Queries by table; transactions with the wait for their turn.',
    metrics.work,
  )
  new Counter({
    name: 'resource_http_answers_total',
    help: 'Requests that have ended, by method and status; aborted where the caller went first.',
    labelNames: ['method', 'status'],
    registers,
    collect() {
      this.reset()
      for (const [method, counts] of metrics.answers) {
        for (const [status, count] of counts) this.inc({ method, status }, count)
      }
    },
  })
  new Counter({
    name: 'resource_denied_total',
    help: 'Requests refused with 401, 403 or 429, by reason.',
    labelNames: ['status', 'reason'],
    registers,
    collect() {
      this.reset()
      for (const { count, ...labels } of metrics.refusals.values()) this.inc(labels, count)
    },
  })
  new Gauge({
    name: 'resource_http_requests_open',
    help: 'Requests under way, those that wait for their client too.',
    registers,
    collect() {
      this.set([...clients().answers()].length)
    },
  })
  new Gauge({
    name: 'resource_http_connections',
    help: 'Connections, by what they are at.',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(clients().states())) this.set({ state }, count)
    },
  })
  new Counter({
    name: 'resource_http_connections_closed_total',
    help: 'Connections closed because too many of their address, or of all, waited for their client.',
    labelNames: ['bound'],
    registers,
    collect() {
      this.reset()
      for (const [bound, count] of Object.entries(clients().closed())) this.inc({ bound }, count)
    },
  })
  new Counter({
    name: 'resource_refused_total',
    help: 'Requests that a limit refused.',
    labelNames: ['limit'],
    registers,
    collect() {
      this.reset()
      const counts = { ...refused(), password_queue: hashingQueue().refused }
      for (const [limit, count] of Object.entries(counts)) this.inc({ limit }, count)
    },
  })
  new Counter({
    name: 'resource_unexpected_errors_total',
    help: 'Errors answered with a 500, and errors of no request.',
    registers,
    collect() {
      this.reset()
      this.inc(metrics.unexpected())
    },
  })
  new Gauge({
    name: 'resource_passwords',
    help: 'Passwords that are hashed or wait for it.',
    labelNames: ['state'],
    registers,
    collect() {
      const { running, waiting } = hashingQueue()
      this.set({ state: 'running' }, running)
      this.set({ state: 'waiting' }, waiting)
    },
  })
  new Counter({
    name: 'resource_replays_total',
    help: 'First answers given again for a repeated Idempotency-Key.',
    registers,
    collect() {
      this.reset()
      this.inc(countReplays())
    },
  })
  const { connections } = database
  if (connections !== undefined) {
    new Gauge({
      name: 'resource_database_connections',
      help: 'Connections of the pool to PostgreSQL; and the queries that wait for one.',
      labelNames: ['state'],
      registers,
      collect() {
        for (const [state, count] of Object.entries(connections())) this.set({ state }, count)
      },
    })
  }
  return registry
}

/** The figures of several processes as those of one. */
export function sum(processes: MetricObject[][]): Promise<string> {
  return AggregatorRegistry.aggregate(processes).metrics()
}

function addHistogram(registry: Registry, name: string, help: string, all: LabelledTimings): void {
  const get = async () => {
    const values = [...all.values()].flatMap(({ labels, timings: { counts, sumSeconds } }) => {
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
    return { name, help, type: 'histogram', aggregator: 'sum', values }
  }
  // Whatever has a name and `get` is a metric to the registry; prom-client's own would look up labels at each call.
  registry.registerMetric({ name, get } as unknown as Histogram)
}
