import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Disk } from '../power/disk.ts'
import { type Event, readTrace, type Timed, traced } from '../power/trace.ts'
import { addAcknowledged, type Stored, writeOften } from '../power/writes.ts'
import { expectAtLeast, expectNone, expectTrue, type Measurement, report, type Scenario } from '../scenario.ts'
import { startService } from '../service.ts'

// `check:power` sets smaller values.
const CUTS = Number(process.env.POWER_CUTS ?? 100)
const ANSWERS = Number(process.env.POWER_ANSWERS ?? 1_500)
const SEED = Number(process.env.POWER_SEED ?? 20261123)

interface Run {
  /** Failing or slow calls, in the syntax of strace's `inject`. Call numbers count per thread. */
  faults?: string[]
  /** The signal that ends the run. */
  signal: NodeJS.Signals
  /** Whether the service keeps running until the next run has finished its writes. */
  staysAlive?: boolean
}

interface Setup {
  name: string
  settings?: Record<string, string>
  isLink?: boolean
  runs: Run[]
}

const RUNS: Run[] = [{ signal: 'SIGKILL' }, { signal: 'SIGTERM' }, { signal: 'SIGKILL' }]
// Slow syncs reveal a response that is sent before its data is durable.
const SLOW = ['fdatasync,fsync:delay_enter=10000']
const eio = (call: number) => [`fdatasync:error=EIO:when=${call}`]
// A start syncs up to four times. If that fails, the service is never ready.
const EARLY = 5

const setups: Setup[] = [
  { name: 'one process', runs: RUNS },
  { name: 'two workers', settings: { WORKERS: '2' }, runs: RUNS.map((run) => ({ ...run, faults: SLOW })) },
  { name: 'a symbolic link', isLink: true, runs: RUNS },
  {
    name: 'a restart after EIO',
    // Calls are counted per thread: with one thread for all files, the number of the failing call is exact.
    settings: { UV_THREADPOOL_SIZE: '1' },
    runs: [
      { faults: eio(10), signal: 'SIGKILL', staysAlive: true },
      { signal: 'SIGKILL' },
      { faults: eio(EARLY), signal: 'SIGKILL' },
      { faults: eio(EARLY + 1), signal: 'SIGTERM' },
      { signal: 'SIGKILL' },
    ],
  },
]

export const powerCuts: Scenario = {
  name: 'power-cuts',
  run: async (log) => {
    if (spawnSync('strace', ['-V']).error) return [report('power cuts', 'NOT CHECKED: strace is missing')]
    const measurements: Measurement[] = []
    for (const setup of setups) measurements.push(...(await cutPower(setup, log)))
    return measurements
  },
}

interface Recording {
  events: Event[]
  /** Indices of the events between a restart and its first response. */
  starts: number[]
  /** Indices of the responses that show records. */
  answers: number[]
  /** The fewest successful requests of a run without failing calls. */
  fewest: number
  /** The number of runs in which a sync failed. */
  failing: number
}

async function cutPower(setup: Setup, log: (line: string) => void): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'torture-power-'))
  try {
    const data = join(folder, 'data')
    mkdirSync(data)
    if (setup.isLink) symlinkSync(join(data, 'resource.db'), join(folder, 'link.db'))
    const { events, starts, answers, fewest, failing } = await record(setup, folder, data, log)
    const random = randomFrom(SEED)
    const any = (indices: number[]) => indices[Math.floor(random() * indices.length)] as number
    const first = answers[0] as number
    const cuts = Array.from({ length: CUTS }, (_, n) => {
      if (n % 3 === 0) return any(answers)
      return n % 3 === 1 ? any(starts) : first + Math.floor(random() * (events.length - first))
    })
    const { images, faults } = replay(events, cuts, random, join(folder, 'image'))
    for (const fault of faults.slice(0, 10)) log(`${setup.name}: ${fault}`)
    const of = (name: string) => `${setup.name}: ${name}`
    return [
      // Without these four, a trace that no longer matches or a service that fails every request would pass.
      expectAtLeast(of('successful requests per run'), fewest, ANSWERS, ''),
      expectAtLeast(of('responses with records'), answers.length, ANSWERS, ''),
      expectAtLeast(of('power cuts'), images, CUTS, ''),
      expectAtLeast(
        of('runs with a failed sync'),
        failing,
        setup.runs.filter(({ faults }) => isFailing(faults)).length,
        '',
      ),
      expectNone(of('acknowledged records lost'), faults.filter((fault) => fault.startsWith('lost')).length),
      expectTrue(
        of('database intact after each cut'),
        faults.every((fault) => fault.startsWith('lost')),
      ),
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function record(
  { name, settings = {}, isLink, runs }: Setup,
  folder: string,
  data: string,
  log: (line: string) => void,
): Promise<Recording> {
  const url = `file:${isLink ? join(folder, 'link.db') : join(data, 'resource.db')}`
  const all: (Timed & { isStart: boolean })[] = []
  let endPrevious: (() => Promise<void>) | undefined
  let fewest = Number.POSITIVE_INFINITY
  let failing = 0
  // Ends the services also when a later one does not start.
  await using services = new AsyncDisposableStack()
  for (const [run, { faults, signal, staysAlive }] of runs.entries()) {
    const trace = join(folder, `trace-${run}`)
    const service = services.use(await startService(url, { settings, tracer: traced(trace, faults) }))
    // The lines of a trace are in the order of its calls; their times only order the runs that overlap, since a clock may step.
    let time = endPrevious === undefined ? (all.at(-1)?.time ?? 0) : 0
    const end = async () => {
      await service.end(signal)
      let isStart = run > 0
      let hasFailed = false
      for await (const event of readTrace(trace, data)) {
        if (isAcknowledgment(event)) isStart = false
        hasFailed ||= event.kind === 'sync ends' && !event.isDone
        time = Math.max(time, event.time)
        all.push({ ...event, time, isStart })
      }
      if (hasFailed) failing++
      rmSync(trace)
    }
    const answered = await writeOften(service.url, ANSWERS, String(run))
    log(`${name}: run ${run + 1}, ${answered} responses`)
    if (!isFailing(faults)) fewest = Math.min(fewest, answered)
    await endPrevious?.()
    endPrevious = staysAlive ? end : undefined
    if (!staysAlive) await end()
  }
  const events = all.sort((a, b) => a.time - b.time)
  const indices = (is: (event: (typeof all)[number]) => boolean) =>
    events.flatMap((event, index) => (is(event) ? [index] : []))
  return { events, starts: indices(({ isStart }) => isStart), answers: indices(isAcknowledgment), fewest, failing }
}

function isFailing(faults: string[] | undefined): boolean {
  return faults !== undefined && faults !== SLOW
}

function isAcknowledgment(event: Event): boolean {
  return event.kind === 'response' && addAcknowledged({ items: new Map(), users: new Set() }, event.text)
}

/** Returns the number of images checked, and their faults. */
function replay(
  events: Event[],
  cuts: number[],
  random: () => number,
  folder: string,
): { images: number; faults: string[] } {
  const disk = new Disk(random)
  const stored: Stored = { items: new Map(), users: new Set() }
  const faults: string[] = []
  let images = 0
  const sorted = cuts.toSorted((a, b) => a - b)
  for (const [index, event] of events.entries()) {
    disk.apply(event)
    if (event.kind === 'response') addAcknowledged(stored, event.text)
    for (; sorted[0] === index; sorted.shift()) {
      disk.writeTo(folder)
      faults.push(...faultsOf(folder, stored).map((fault) => `${fault}, at event ${index} of ${events.length}`))
      images++
      rmSync(folder, { recursive: true })
    }
  }
  return { images, faults }
}

function faultsOf(folder: string, { items, users }: Stored): string[] {
  const file = join(folder, 'resource.db')
  if (!existsSync(file)) return items.size === 0 ? [] : ['lost: the database']
  try {
    using database = new DatabaseSync(file)
    const all = (sql: string) => database.prepare(sql).all() as Record<string, number>[]
    const [check] = all('PRAGMA integrity_check')
    if (String(check?.integrity_check) !== 'ok') return [`damaged: ${check?.integrity_check}`]
    if (items.size === 0) return []
    const prices = new Map(all('SELECT id, price FROM items').map(({ id, price }) => [id, price as number]))
    const known = new Set(all('SELECT id FROM users').map(({ id }) => id))
    const lost = [...items].filter(([id, price]) => (prices.get(id) ?? -1) < price).map(([id]) => `lost: item ${id}`)
    return [...lost, ...[...users].filter((id) => !known.has(id)).map((id) => `lost: user ${id}`)]
  } catch (error) {
    return [`damaged: ${(error as Error).message}`]
  }
}

/** Mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
