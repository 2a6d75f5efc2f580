import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Disk } from '../power/disk.ts'
import { type Event, readTrace, type Timed, traced } from '../power/trace.ts'
import { learn, type Stored, writeOften } from '../power/writes.ts'
import { atLeast, type Figure, holds, none, type Row, told } from '../row.ts'
import { startService } from '../service.ts'

// The check takes fewer.
const CUTS = Number(process.env.POWER_CUTS ?? 100)
const ANSWERS = Number(process.env.POWER_ANSWERS ?? 1_500)
const SEED = Number(process.env.POWER_SEED ?? 20261123)

interface Run {
  /** Calls that fail or are slow, by strace's words. Each thread counts for itself. */
  faults?: string[]
  /** How it ends. */
  signal: NodeJS.Signals
  /** Whether it ends only when the next one has written. */
  stays?: boolean
}

interface Setup {
  name: string
  settings?: Record<string, string>
  isLink?: boolean
  runs: Run[]
}

const RUNS: Run[] = [{ signal: 'SIGKILL' }, { signal: 'SIGTERM' }, { signal: 'SIGKILL' }]
// So that an answer that does not wait for the disk leaves long before the disk has what it says.
const SLOW = ['fdatasync,fsync:delay_enter=10000']
const eio = (call: number) => [`fdatasync:error=EIO:when=${call}`]

const setups: Setup[] = [
  { name: 'one process', runs: RUNS },
  { name: 'two workers', settings: { WORKERS: '2' }, runs: RUNS.map((run) => ({ ...run, faults: SLOW })) },
  { name: 'a symbolic link', isLink: true, runs: RUNS },
  {
    name: 'a restart after EIO',
    runs: [
      { faults: eio(10), signal: 'SIGKILL', stays: true },
      { signal: 'SIGKILL' },
      { faults: eio(2), signal: 'SIGKILL' },
      { faults: eio(5), signal: 'SIGTERM' },
      { signal: 'SIGKILL' },
    ],
  },
]

export const powerCuts: Row = {
  name: 'power-cuts',
  title: 'Power cuts on SQLite, replayed from the calls of the service',
  how: `Ten callers create, change, repeat with an Idempotency-Key and read, and the service is killed, stopped and started again, while
strace writes down its calls: writes, syncs, names, and answers. From them come the files as a power cut could leave them at ${CUTS} moments
of each set-up, a third of them right after an answer and a third during a start: what was not synced is there or not, in any part, torn
between sectors too, and after a sync that failed no later one brings its pages to the disk. The first service whose disk fails is still
there when the next one starts. Every image must open, be sound
(\`PRAGMA integrity_check\`), and hold every record that an answer has shown by then. \`POWER_SEED\` draws others.`,
  run: async (tell) => {
    if (spawnSync('strace', ['-V']).error) return [told('power cuts', 'NOT CHECKED: strace is missing')]
    const figures: Figure[] = []
    for (const setup of setups) figures.push(...(await cutPower(setup, tell)))
    return figures
  },
}

interface Recording {
  events: Event[]
  /** The indices of the events from a start, other than the first, to its first answer. */
  starts: number[]
  answers: number[]
}

async function cutPower(setup: Setup, tell: (line: string) => void): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'torture-power-'))
  try {
    const data = join(folder, 'data')
    mkdirSync(data)
    if (setup.isLink) symlinkSync(join(data, 'resource.db'), join(folder, 'link.db'))
    const { events, starts, answers } = await record(setup, folder, data, tell)
    const random = randomFrom(SEED)
    const any = (indices: number[]) => indices[Math.floor(random() * indices.length)] as number
    const first = answers[0] as number
    const cuts = Array.from({ length: CUTS }, (_, n) => {
      if (n % 3 === 0) return any(answers)
      return n % 3 === 1 ? any(starts) : first + Math.floor(random() * (events.length - first))
    })
    const faults = replay(events, cuts, random, join(folder, 'image'))
    for (const fault of faults.slice(0, 10)) tell(`${setup.name}: ${fault}`)
    const of = (what: string) => `${setup.name}: ${what}`
    return [
      told(of('answers that showed records'), String(answers.length)),
      atLeast(of('power cuts'), cuts.length, CUTS, ''),
      none(of('acknowledged records lost'), faults.filter((fault) => fault.startsWith('lost')).length),
      holds(
        of('file sound each time'),
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
  tell: (line: string) => void,
): Promise<Recording> {
  const url = `file:${isLink ? join(folder, 'link.db') : join(data, 'resource.db')}`
  const all: (Timed & { isStart: boolean })[] = []
  let staying: (() => Promise<void>) | undefined
  for (const [run, { faults, signal, stays }] of runs.entries()) {
    const trace = join(folder, `trace-${run}`)
    const service = await startService(url, { settings, tracer: traced(trace, faults) })
    const end = async () => {
      await service.end(signal)
      let isStart = run > 0
      for await (const event of readTrace(trace, data)) {
        if (isAcknowledgment(event)) isStart = false
        all.push({ ...event, isStart })
      }
      rmSync(trace)
    }
    const answered = await writeOften(service.url, ANSWERS, String(run))
    tell(`${name}: run ${run + 1}, ${answered} answers`)
    await staying?.()
    staying = stays ? end : undefined
    if (!stays) await end()
  }
  const events = all.sort((a, b) => a.time - b.time)
  const indices = (is: (event: (typeof all)[number]) => boolean) =>
    events.flatMap((event, index) => (is(event) ? [index] : []))
  return { events, starts: indices(({ isStart }) => isStart), answers: indices(isAcknowledgment) }
}

function isAcknowledgment(event: Event): boolean {
  return event.kind === 'answer' && /"id":\d/.test(event.text)
}

function replay(events: Event[], cuts: number[], random: () => number, folder: string): string[] {
  const disk = new Disk(random)
  const stored: Stored = { items: new Map(), users: new Set() }
  const faults: string[] = []
  const sorted = cuts.toSorted((a, b) => a - b)
  for (const [index, event] of events.entries()) {
    disk.apply(event)
    if (event.kind === 'answer') learn(stored, event.text)
    for (; sorted[0] === index; sorted.shift()) {
      disk.writeTo(folder)
      faults.push(...faultsOf(folder, stored).map((fault) => `${fault}, at event ${index} of ${events.length}`))
      rmSync(folder, { recursive: true })
    }
  }
  return faults
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
