import { checkAnswers, checkRows, workloadsOf } from './check.ts'
import type { Copy, Engine } from './engines/engine.ts'
import { Load } from './load.ts'
import type { Program } from './programs.ts'
import { type Server, startServer } from './server.ts'
import { percentile, type Spread, spread } from './statistics.ts'
import { findLastCursor, type Target, type Workload, workloads } from './workloads.ts'

export interface Plan {
  contestants: { program: Program; rows: number }[]
  workloads: string[]
  rounds: number
  /** Length of an interval, including its lead-in. */
  ms: number
  /** The CPU core of the server, if it can be pinned. */
  core: number | undefined
  /** Receives progress messages. */
  log: (line: string) => void
}

/** Results of one workload for one program on one dataset. */
export interface Cell {
  engine: string
  rows: number
  program: string
  workload: string
  /** CPU time of the server per call, in µs. */
  cpu: Spread
  /** The same by round, for ratios: the intervals of one round are adjacent in time. */
  cpuOfRounds: number[]
  perSecond: Spread
  /** ms */
  p50: Spread
  p99: Spread
  /** Share of the time in which the load generator was busy, 0 to 1. */
  loadBusy: number
}

/** Start time and memory of one program on one dataset. */
export interface Run {
  engine: string
  rows: number
  program: string
  startMs: Spread
  /** Resident memory in bytes, after the first response and after all workloads. */
  idleMemory: number
  busyMemory: number
}

/** A measurement that could not run. */
interface Skipped {
  engine: string
  rows: number
  program: string
  reason: string
}

export interface Results {
  cells: Cell[]
  runs: Run[]
  skipped: Skipped[]
}

interface Contestant extends Target {
  copy: Copy
  server: Server
  load: Load
  workloads: Workload[]
  startMs: number[]
  idleMemory: number
  /** Number of requests sent so far. */
  sent: number
}

type Interval = Record<'cpu' | 'perSecond' | 'p50' | 'p99' | 'loadBusy', number>

const STARTS = 3
// Limits, in requests and ms, of the warm-ups before the first two workloads and before the others. Just-in-time
// compilation takes some ten thousand calls, and the first workloads run most of the code. A paired workload runs code
// that no other workload does, and needs a longer warm-up.
const FIRST_WARM_UPS = [
  { requests: 30_000, ms: 5000 },
  { requests: 10_000, ms: 3000 },
]
const WARM_UP = { requests: Number.POSITIVE_INFINITY, ms: 750 }
const PAIRED_WARM_UP = { requests: 10_000, ms: 3000 }
// Unmeasured start of an interval: during the intervals of other programs, the kernel may evict code and data from memory,
// and the processor from its caches. In such a case a get took 66 to 57 µs in the first 100 ms, then 49 to 40 µs.
const LEAD_IN_MS = 100
const MAX_CONNECTIONS = Math.max(...workloads.map(({ connections }) => connections))

/** Measures all contestants on one engine with seeded datasets. Each round runs every workload with every program. */
export async function measure(engine: Engine, plan: Plan): Promise<Results> {
  const results: Results = { cells: [], runs: [], skipped: [] }
  const contestants: Contestant[] = []
  try {
    for (const entry of plan.contestants) {
      const { program, rows } = entry
      try {
        contestants.push(await startContestant(engine, entry, plan))
      } catch (error) {
        const reason = (error as Error).message
        plan.log(`${program.name} with ${rows} rows on ${engine.name} skipped: ${reason}`)
        results.skipped.push({ engine: engine.name, program: program.name, rows, reason })
      }
    }
    for (const contestant of contestants) {
      for (const [at, workload] of contestant.workloads.entries()) {
        const { requests, ms } = FIRST_WARM_UPS[at] ?? (workload.pairedWith === undefined ? WARM_UP : PAIRED_WARM_UP)
        await run(contestant, workload, ms, requests)
        if (workload.insertsRows) await contestant.copy.trim()
      }
    }
    results.cells.push(...(await runRounds(engine, contestants, plan)))
    for (const { program, rows, server, startMs, idleMemory } of contestants) {
      const { memory } = await server.usage()
      const start = spread(startMs)
      results.runs.push({
        engine: engine.name,
        program: program.name,
        rows,
        startMs: start,
        idleMemory,
        busyMemory: memory,
      })
    }
    return results
  } finally {
    for (const { load, server, copy } of contestants) {
      await load.close()
      await server[Symbol.asyncDispose]()
      await copy[Symbol.asyncDispose]()
    }
  }
}

/** Starts a program on a copy of the dataset and checks its responses. */
async function startContestant(
  engine: Engine,
  { program, rows }: { program: Program; rows: number },
  plan: Plan,
): Promise<Contestant> {
  const copy = await engine.copy(rows, program.name)
  let server: Server | undefined
  try {
    const startMs: number[] = []
    for (let i = 0; i < STARTS; i++) {
      await server?.[Symbol.asyncDispose]()
      server = await startServer(program, copy.url, plan.core)
      startMs.push(server.startMs)
    }
    const { url, usage } = server as Server
    const idleMemory = (await usage()).memory
    const lastCursor = program.name === 'ours' ? await findLastCursor(url, rows) : ''
    const target: Target = { program, rows, lastCursor }
    const chosen = workloadsOf(target, plan.workloads)
    const sent = await checkAnswers(url, target, chosen)
    await checkRows(copy, target, chosen)
    await copy.trim()
    return {
      ...target,
      copy,
      server: server as Server,
      load: new Load(url, MAX_CONNECTIONS),
      workloads: chosen,
      startMs,
      idleMemory,
      sent,
    }
  } catch (error) {
    await server?.[Symbol.asyncDispose]()
    await copy[Symbol.asyncDispose]()
    throw error
  }
}

// Each round runs all workloads, so that a slow minute of the machine affects one round of each and not all rounds of one.
async function runRounds(engine: Engine, contestants: Contestant[], { rounds, ms, log }: Plan): Promise<Cell[]> {
  const groups = workloads
    .filter(({ pairedWith }) => pairedWith === undefined)
    .map((workload) => [workload, ...workloads.filter(({ pairedWith }) => pairedWith === workload.name)])
    .map((group) => contestants.flatMap((contestant) => entriesOf(contestant, group)))
  for (let round = 0; round < rounds; round++) {
    log(`${engine.name}: round ${round + 1} of ${rounds}`)
    for (const { copy } of contestants) await copy.warm()
    for (const group of groups) {
      for (const { workload, contestant, intervals } of shuffled(group)) {
        intervals.push(await measureInterval(contestant, workload, ms))
      }
    }
  }
  return groups.flat().map(({ workload, contestant: { program, rows }, intervals }) => {
    const of = (name: keyof Interval) => intervals.map((interval) => interval[name])
    return {
      engine: engine.name,
      rows,
      program: program.name,
      workload: workload.name,
      cpu: spread(of('cpu')),
      cpuOfRounds: of('cpu'),
      perSecond: spread(of('perSecond')),
      p50: spread(of('p50')),
      p99: spread(of('p99')),
      loadBusy: spread(of('loadBusy')).median,
    }
  })
}

/** In random order: an interval may be slower after that of a certain program, so each program follows each other one. */
function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((entry) => ({ entry, at: Math.random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ entry }) => entry)
}

function entriesOf(contestant: Contestant, group: Workload[]) {
  return group
    .filter((workload) => contestant.workloads.includes(workload))
    .map((workload) => ({ workload, contestant, intervals: [] as Interval[] }))
}

/** Runs one workload for `ms`, or until `maxRequests` have been sent. */
function run(contestant: Contestant, workload: Workload, ms: number, maxRequests = Number.POSITIVE_INFINITY) {
  const end = performance.now() + ms
  const last = contestant.sent + maxRequests
  const isRunning = () => contestant.sent < last && performance.now() < end
  return contestant.load.run(
    () => workload.request(contestant.sent++, contestant),
    workload.status,
    workload.connections,
    isRunning,
  )
}

async function measureInterval(contestant: Contestant, workload: Workload, ms: number): Promise<Interval> {
  const { server, copy } = contestant
  await run(contestant, workload, LEAD_IN_MS)
  const before = await server.usage()
  const { requests, seconds, latencies, busy } = await run(contestant, workload, ms - LEAD_IN_MS)
  const after = await server.usage()
  if (workload.insertsRows) await copy.trim()
  latencies.sort((a, b) => a - b)
  const calls = requests * (workload.calls ?? 1)
  return {
    cpu: (after.cpu - before.cpu) / calls,
    perSecond: calls / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    loadBusy: busy,
  }
}
