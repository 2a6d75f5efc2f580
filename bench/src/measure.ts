import { checkAnswers, worksOf } from './check.ts'
import type { Copy, Engine } from './engines/engine.ts'
import { Load } from './load.ts'
import type { Program } from './programs.ts'
import { type Server, startServer } from './server.ts'
import { percentile, type Spread, spread } from './statistics.ts'
import { findLastCursor, type Target, type Work, works } from './works.ts'

export interface Plan {
  contestants: { program: Program; rows: number }[]
  works: string[]
  rounds: number
  /** Of one program's turn in a round, its lead-in with it. */
  ms: number
  /** The core of the server, where the machine can pin it. */
  core: number | undefined
  /** Told what is being done. */
  tell: (line: string) => void
}

/** One kind of work at one program on one dataset. */
export interface Cell {
  engine: string
  rows: number
  program: string
  work: string
  /** µs of the server's CPU for one call. */
  cpu: Spread
  perSecond: Spread
  /** ms */
  p50: Spread
  p99: Spread
  /** How busy the load generator's core was, 0 to 1. */
  loadBusy: number
}

/** One program on one dataset. */
export interface Run {
  engine: string
  rows: number
  program: string
  startMs: Spread
  /** Bytes resident after the first answer and after all the work. */
  idleMemory: number
  busyMemory: number
}

/** What did not take place. */
interface Absence {
  engine: string
  rows: number
  program: string
  reason: string
}

export interface Results {
  cells: Cell[]
  runs: Run[]
  absences: Absence[]
}

interface Contestant extends Target {
  copy: Copy
  server: Server
  load: Load
  works: Work[]
  startMs: number[]
  idleMemory: number
  /** How many requests it had. */
  asked: number
}

type Turn = Record<'cpu' | 'perSecond' | 'p50' | 'p99' | 'loadBusy', number>

const STARTS = 3
// Requests before the first two kinds of work, and for how many turns' time at most; and turns before the others.
// Just-in-time compilers want to see something some ten thousand times: most of it is in the first kinds.
const FIRST_WARMINGS = [
  { requests: 30_000, turns: 10 },
  { requests: 10_000, turns: 6 },
]
const WARMING = { requests: Number.POSITIVE_INFINITY, turns: 1.5 }
// At the beginning of a turn, not measured: while others had theirs, the kernel may have put code and data out of memory.
const LEAD_MS = 100
const MOST_CONNECTIONS = Math.max(...works.map(({ connections }) => connections))

/** Measures everybody on one engine, whose datasets are seeded: work by work, round by round, program by program. */
export async function measure(engine: Engine, plan: Plan): Promise<Results> {
  const results: Results = { cells: [], runs: [], absences: [] }
  const there: Contestant[] = []
  try {
    for (const entry of plan.contestants) {
      const { program, rows } = entry
      try {
        there.push(await admit(engine, entry, plan))
      } catch (error) {
        const reason = (error as Error).message
        plan.tell(`${program.name} with ${rows} rows on ${engine.name} is not run: ${reason}`)
        results.absences.push({ engine: engine.name, program: program.name, rows, reason })
      }
    }
    for (const contestant of there) {
      for (const [at, work] of contestant.works.entries()) {
        const { requests, turns } = FIRST_WARMINGS[at] ?? WARMING
        await ask(contestant, work, turns * plan.ms, requests)
        if (work.adds) await contestant.copy.trim()
      }
    }
    for (const work of works) {
      const able = there.filter((contestant) => contestant.works.includes(work))
      if (able.length > 0) results.cells.push(...(await measureWork(engine, work, able, plan)))
    }
    for (const { program, rows, server, startMs, idleMemory } of there) {
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
    for (const { load, server, copy } of there) {
      await load.close()
      await server[Symbol.asyncDispose]()
      await copy[Symbol.asyncDispose]()
    }
  }
}

/** Starts a program on a copy of the dataset and sees that it answers right. */
async function admit(
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
    const chosen = worksOf(target, plan.works)
    const asked = await checkAnswers(url, target, chosen)
    await copy.trim()
    return {
      ...target,
      copy,
      server: server as Server,
      load: new Load(url, MOST_CONNECTIONS),
      works: chosen,
      startMs,
      idleMemory,
      asked,
    }
  } catch (error) {
    await server?.[Symbol.asyncDispose]()
    await copy[Symbol.asyncDispose]()
    throw error
  }
}

async function measureWork(engine: Engine, work: Work, able: Contestant[], plan: Plan): Promise<Cell[]> {
  plan.tell(`${engine.name}: ${work.title}`)
  for (const { copy } of able) await copy.warm()
  const turns = able.map((): Turn[] => [])
  for (let round = 0; round < plan.rounds; round++) {
    // Another begins each round.
    for (let i = 0; i < able.length; i++) {
      const at = (round + i) % able.length
      turns[at]?.push(await takeTurn(able[at] as Contestant, work, plan.ms))
    }
  }
  return able.map(({ program, rows }, at) => {
    const of = (name: keyof Turn) => spread((turns[at] as Turn[]).map((turn) => turn[name]))
    return {
      engine: engine.name,
      rows,
      program: program.name,
      work: work.name,
      cpu: of('cpu'),
      perSecond: of('perSecond'),
      p50: of('p50'),
      p99: of('p99'),
      loadBusy: of('loadBusy').median,
    }
  })
}

/** Asks for one kind of work for so many ms, and not more often than `most`. */
function ask(contestant: Contestant, work: Work, ms: number, most = Number.POSITIVE_INFINITY) {
  const end = performance.now() + ms
  const last = contestant.asked + most
  const goesOn = () => contestant.asked < last && performance.now() < end
  return contestant.load.run(() => work.ask(contestant.asked++, contestant), work.status, work.connections, goesOn)
}

async function takeTurn(contestant: Contestant, work: Work, ms: number): Promise<Turn> {
  const { server, copy } = contestant
  await ask(contestant, work, LEAD_MS)
  const before = await server.usage()
  const { requests, seconds, latencies, busy } = await ask(contestant, work, ms - LEAD_MS)
  const after = await server.usage()
  if (work.adds) await copy.trim()
  latencies.sort((a, b) => a - b)
  const calls = requests * (work.calls ?? 1)
  return {
    cpu: (after.cpu - before.cpu) / calls,
    perSecond: calls / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    loadBusy: busy,
  }
}
