import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commit, machine } from './machine.ts'
import type { Cell } from './measure.ts'
import type { Options } from './options.ts'
import { programs } from './programs.ts'

export interface Facts extends Pick<Options, 'rounds' | 'ms'> {
  started: Date
  /** Of the engines, by name. */
  versions: Record<string, string>
  /** Whether server and load had cores of their own. */
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
  '@orpc/openapi',
  'hono',
  '@hono/zod-openapi',
  'kysely',
  '@nestjs/core',
  'zod',
]

/** What was measured where and when. */
export function facts({ started, versions, pinned, rounds, ms }: Facts): string {
  const minutes = ((Date.now() - started.getTime()) / 60_000).toFixed(1)
  const lines = [
    `${started.toISOString().slice(0, 16).replace('T', ' ')} UTC, ${minutes} minutes, commit ${commit()}`,
    machine(),
    `Node ${process.versions.node}; ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}`,
    PACKAGES.map((name) => `${name} ${versionOf(name)}`).join(', '),
    `${rounds} rounds of ${ms} ms for each program and kind of work; ${pinned ? 'server on one core, load and database server on the others' : 'cores shared: nothing here can pin a process'}`,
  ]
  return lines.map((line) => `- ${line}`).join('\n')
}

/** How to read it, and where the programs are not quite the same. */
export function notes(cells: Cell[], { pinned }: Facts): string {
  const busiest = Math.max(0, ...cells.map(({ loadBusy }) => loadBusy))
  const titles = programs.filter(({ peer }) => peer !== 'equipped').map(({ name, title }) => `\`${name}\` is ${title}`)
  const lines = [
    `Programs: ${titles.join('; ')}. Each is in one file of \`peers/\`, and what an equipped one adds in one of \`peers/equipment/\`; \`ours\` is the service as \`npm start\` runs it.`,
    'CPU is `process.cpuUsage()` of the server process, user and kernel, asked before and after each turn: that of a database server beside it is not in it. A batch counts as ten calls, a bulk create as one.',
    'Turns go round: round by round, work by work, program by program (the last page beside the first), each program beginning in its turn, after a warm-up that counts nowhere. Before each round the databases are read through, and the first tenth of a second of a turn does not count: a machine may put files out of memory, programs among them, that were not used for some seconds, room or not. A figure is the median of the rounds, with the least and the most; a ratio is the median of what each round says, whose turns were side by side, for a machine that is shared may take twice as long for some seconds.',
    `Load: 8 connections kept alive, each sending its next request once the one before is answered; bulk creates one after another. The load generator never sleeps, for on one machine the server would pay for waking it; it had something to do for at most ${Math.round(busiest * 100)} % of its time${pinned ? ', on a core of its own' : ''}.`,
    'Before it is measured, each program answers every kind of work with the same JSON and refuses the same wrong requests with the same status; in the load every status is checked. Error bodies are as their authors make them. The service sends headers that the bare peers do not (`ETag`, `Link`, `Location`, `X-Request-Id`, `Cache-Control`, `X-Content-Type-Options`).',
    '`plain` cannot take a top-level array: its bulk create takes `{ "users": [...] }`. It turns the price `"30"` into a number where the others refuse it. tRPC is spoken by `ours`, `limit` and `plain` alone.',
    "SQLite: WAL, `synchronous=FULL`, better-sqlite3; `ours` brings its log to the disk itself before it answers (docs/decisions/database.md), and keeps an audit log of writes, which no peer does. PostgreSQL: durable as it comes, 10 connections for each peer. Indexes are the service's for everybody. Rows that creates add are taken out after each turn.",
    'Every program runs with `NODE_ENV=production` and logs as its authors made it: `ours` and the equipped peers write a line per request, `nest` at its start alone, the others nothing. Logs go to /dev/null.',
    'An equipped peer, such as `fastify-equipped`, does what the service does around each request: a log line with an id, security headers, a rate limit per address, load shedding, metrics. Its limits are never reached. It is measured at a get, a list and a create, and on SQLite alone unless it is named.',
    'Peers are measured at 100,000 rows alone, `ours` and `limit` at all sizes. Peers load the drivers of both engines, which their memory and start show. TypeScript is run as it is, but for `nest`, which is compiled for its decorators.',
  ]
  return lines.map((line) => `- ${line}`).join('\n')
}

function versionOf(name: string): string {
  const file = join(import.meta.dirname, '../node_modules', name, 'package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
