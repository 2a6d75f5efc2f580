import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commit, machine } from './machine.ts'
import type { Cell } from './measure.ts'
import type { Options } from './options.ts'
import { programs } from './programs.ts'

export interface Facts extends Pick<Options, 'rounds' | 'ms'> {
  started: Date
  /** Version by engine name. */
  versions: Record<string, string>
  /** Whether server and load ran on separate cores. */
  pinned: boolean
}

const PACKAGES = [
  'express',
  '@trpc/server',
  'trpc-openapi',
  '@prisma/client',
  'better-sqlite3',
  'pg',
  'fastify',
  'drizzle-orm',
  'hono',
  '@hono/zod-openapi',
  'kysely',
  'zod',
]

/** Time, commit, machine and versions of the measurement. */
export function facts({ started, versions, pinned, rounds, ms }: Facts): string {
  const minutes = ((Date.now() - started.getTime()) / 60_000).toFixed(1)
  const lines = [
    `${started.toISOString().slice(0, 16).replace('T', ' ')} UTC, ${minutes} minutes, commit ${commit()}`,
    machine(),
    `Node ${process.versions.node}; ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}`,
    PACKAGES.map((name) => `${name} ${versionOf(name)}`).join(', '),
    `${rounds} rounds with an interval of ${ms} ms for each program and workload; ${pinned ? 'server on one core, load and database server on the others' : 'cores shared: taskset is unavailable'}`,
  ]
  return lines.map((line) => `- ${line}`).join('\n')
}

/** The method, and the differences between the programs. */
export function notes(cells: Cell[], { pinned }: Facts): string {
  const busiest = Math.max(0, ...cells.map(({ loadBusy }) => loadBusy))
  const titles = programs.filter(({ peer }) => peer !== 'equipped').map(({ name, title }) => `\`${name}\` is ${title}`)
  const lines = [
    `Programs: ${titles.join('; ')}. Each peer is one file in \`peers/\`; an equipped variant adds one file in \`peers/equipment/\`. \`ours\` is the service as started by \`npm start\`.`,
    'CPU is `process.cpuUsage()` of the server process, user and kernel, read before and after each interval. It excludes a separate database server. A batch counts as ten calls, a bulk create as one.',
    'Each round runs every workload with every program, one interval after another; the first and the last page run in the same group. The order is random. An unmeasured warm-up precedes the first round. Before each round the database files are read, and the first 100 ms of each interval are not measured, because the kernel may evict unused files and code from memory within seconds. A value is the median of the rounds, with minimum and maximum. A ratio is the median of the ratios by round: the intervals of one round are adjacent in time, and a shared machine may be half as fast for some seconds.',
    `Load: 8 keep-alive connections, each of which sends its next request after the response to the previous one. Bulk creates run one at a time. The load generator never sleeps: on the same machine, waking it would cost the server CPU. It was busy for at most ${Math.round(busiest * 100)} % of the time${pinned ? ', on a separate core' : ''}.`,
    'Before the measurement, each program must return the same JSON for every workload and reject the same invalid requests with the same status. During the load every status is checked. Error bodies may differ. The service sends headers that the bare peers do not (`ETag`, `Link`, `Location`, `X-Request-Id`, `Cache-Control`, `X-Content-Type-Options`).',
    '`plain` does not support a top-level array: the body of its bulk create is `{ "users": [...] }`. It converts the price `"30"` to a number; the other programs reject it. Only `ours`, `limit` and `plain` support tRPC.',
    "SQLite: WAL, `synchronous=FULL`, better-sqlite3; `ours` syncs the WAL itself before it responds (docs/decisions/database.md) and writes an audit log, which no peer does. PostgreSQL: durable commits, 10 connections per peer. All programs use the service's indexes and store the same rows, including the keys of searches; before the measurement they are compared. Inserted rows are deleted after each interval.",
    'Every program runs with `NODE_ENV=production` and its default logging: `ours` and the equipped peers write one line per request, the others write nothing. Logs go to /dev/null.',
    'An equipped peer, such as `fastify-equipped`, does what the service does around each request: a log line with an id, security headers, a rate limit per address, load shedding and metrics. The load stays below its limits. It runs get, list and create, and runs on PostgreSQL only when named.',
    'Peers are measured at 100,000 rows, `ours` and `limit` at all sizes. Peers load the drivers of both engines, which adds to their memory and startup time. Node.js runs the TypeScript sources directly.',
  ]
  return lines.map((line) => `- ${line}`).join('\n')
}

function versionOf(name: string): string {
  const file = join(import.meta.dirname, '../node_modules', name, 'package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
