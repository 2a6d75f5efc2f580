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
  /** The same, round by round: what is compared had its turns side by side. */
  cpuOfRounds: number[]
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
// Requests before the first two kinds of work, and for how long at most; and before the others.
// Just-in-time compilers want to see something some ten thousand times: most of it is in the first kinds. What has its
// turns beside another is to be compared with that alone, and has code which no other kind runs.
const FIRST_WARMINGS = [
  { requests: 30_000, ms: 5000 },
  { requests: 10_000, ms: 3000 },
]
const WARMING = { requests: Number.POSITIVE_INFINITY, ms: 750 }
const WARMING_BESIDE = { requests: 10_000, ms: 3000 }
// At the beginning of a turn, not measured: while others had theirs, the kernel may have put code and data out of memory,
// and the processor out of its caches. Where it did, a get took 66 to 57 µs in the first tenth of a second, then 49 to 40.
const LEAD_MS = 100
const MOST_CONNECTIONS = Math.max(...works.map(({ connections }) => connections))

/** Measures everybody on one engine, whose datasets are seeded: round by round, work by work, program by program. */
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
        const { requests, ms } = FIRST_WARMINGS[at] ?? (work.beside === undefined ? WARMING : WARMING_BESIDE)
        await ask(contestant, work, ms, requests)
        if (work.adds) await contestant.copy.trim()
      }
    }
    results.cells.push(...(await takeRounds(engine, there, plan)))
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

// All works in each round, so that a bad minute of the machine is a bad round of each and not all the rounds of one.
async function takeRounds(engine: Engine, there: Contestant[], { rounds, ms, tell }: Plan): Promise<Cell[]> {
  const groups = works
    .filter(({ beside }) => beside === undefined)
    .map((work) => [work, ...works.filter(({ beside }) => beside === work.name)])
    .map((together) => there.flatMap((contestant) => placesOf(contestant, together)))
  for (let round = 0; round < rounds; round++) {
    tell(`${engine.name}: round ${round + 1} of ${rounds}`)
    for (const { copy } of there) await copy.warm()
    for (const group of groups) {
      // Another begins each round.
      const first = round % group.length
      for (const { work, contestant, turns } of [...group.slice(first), ...group.slice(0, first)]) {
        turns.push(await takeTurn(contestant, work, ms))
      }
    }
  }
  return groups.flat().map(({ work, contestant: { program, rows }, turns }) => {
    const of = (name: keyof Turn) => turns.map((turn) => turn[name])
    return {
      engine: engine.name,
      rows,
      program: program.name,
      work: work.name,
      cpu: spread(of('cpu')),
      cpuOfRounds: of('cpu'),
      perSecond: spread(of('perSecond')),
      p50: spread(of('p50')),
      p99: spread(of('p99')),
      loadBusy: spread(of('loadBusy')).median,
    }
  })
}

function placesOf(contestant: Contestant, together: Work[]) {
  return together
    .filter((work) => contestant.works.includes(work))
    .map((work) => ({ work, contestant, turns: [] as Turn[] }))
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
