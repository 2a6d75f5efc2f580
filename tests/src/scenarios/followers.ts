import { Agent, get, type IncomingMessage } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '@resource/bench/statistics'
import { query, whileOpen } from '@resource/postgres-test'
import { fetch } from 'undici'
import { postgresTestDatabase, sqliteTestDatabase, type TestDatabase } from '../engines.ts'
import { ChangeReader } from '../followers.ts'
import {
  expectAtLeast,
  expectAtMost,
  expectNone,
  type Measurement,
  report,
  rounded,
  type Scenario,
} from '../scenario.ts'
import { type Service, startService } from '../service.ts'

const EVENTS = 200_000
const KILLS = 20
const STREAMS = 5_000
const WRITERS = 8
const OPEN_MS = 60_000
const SETTINGS = { RATE_LIMIT: '0', MAX_STREAMS: '1000000', MAX_CONNECTIONS: '20000' }

export const followers: Scenario = {
  name: 'followers',
  run: async (log) => {
    const measurements: Measurement[] = []
    for (const open of [sqliteTestDatabase, postgresTestDatabase]) {
      for (const workers of [1, 3]) {
        await using database = await open()
        const { lost, repeated, unordered, faults, events, resumeMs } = await followKills(
          database,
          { events: EVENTS, kills: KILLS, workers },
          log,
        )
        const of = (name: string) => `${database.engine}, ${workers} processes: ${name}`
        for (const fault of faults.slice(0, 5)) log(fault)
        measurements.push(
          expectAtLeast(of('events'), events, EVENTS, ''),
          expectNone(of('lost'), lost),
          expectNone(of('repeated'), repeated),
          expectNone(of('out of order per record'), unordered),
          expectNone(of('incorrect answers'), faults.length),
          expectAtMost(of('resume after 100,000 missed changes'), resumeMs, 5_000, 'ms'),
        )
      }
      await using database = await open()
      measurements.push(...(await measureLatency(database)))
      if (database.engine === 'PostgreSQL') measurements.push(...(await measureBesideWrite(database)))
    }
    await using database = await sqliteTestDatabase()
    measurements.push(...(await measureStreams(database)))
    return measurements
  },
}

interface Run {
  events: number
  kills: number
  workers: number
}

/** Writes at random and kills all processes at random, while a reader follows. */
export async function followKills(database: TestDatabase, { events, kills, workers }: Run, log = (_: string) => {}) {
  const settings = { ...SETTINGS, WORKERS: String(workers) }
  let service = await startService(database.url, { settings })
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(async () => void (await service.end('SIGKILL')))
  const { url, port } = service
  await using reader = new ChangeReader(url)
  let isEnded = false
  const writers = Array.from({ length: WRITERS }, (_, writer) => writeUntil(url, writer, () => isEnded))
  for (let kill = 1; kill <= kills; kill++) {
    const target = (events * kill) / (kills + 1)
    while (reader.changes.length < target) await sleep(5)
    await service.end('SIGKILL')
    await ended(url)
    service = await startService(database.url, { port, settings })
    if (kill % 5 === 0) log(`${database.engine}, ${workers}: ${kill} kills, ${reader.changes.length} events`)
  }
  while (reader.changes.length < events) await sleep(5)
  isEnded = true
  await Promise.all(writers)
  const stored = await storedIds(database)
  await reader.reached(stored.at(-1) as number, 30_000)
  const startMs = performance.now()
  await using late = new ChangeReader(url)
  while (late.changes.length < Math.min(100_000, stored.length)) await sleep(1)
  const resumeMs = performance.now() - startMs
  const received = reader.changes.map(({ id }) => id)
  const found = new Set(received)
  const versions = new Map<string, number>()
  let unordered = 0
  for (const { record, version } of reader.changes) {
    const before = versions.get(record) ?? 0
    // A deletion has the last version.
    if (version < before) unordered++
    versions.set(record, version)
  }
  return {
    events: received.length,
    lost: stored.filter((id) => !found.has(id)).length,
    repeated: received.length - found.size,
    unordered: unordered + received.filter((id, index) => index > 0 && id <= (received[index - 1] as number)).length,
    faults: reader.faults,
    breaks: reader.breaks,
    resumeMs,
  }
}

/** Until no process answers: with several, the others outlive the killed one for a moment. */
async function ended(url: string): Promise<void> {
  for (;;) {
    try {
      await fetch(`${url}/healthz`)
    } catch {
      return
    }
    await sleep(5)
  }
}

/** Creates, updates and deletes items at random. Some writes fail, so that PostgreSQL skips ids. */
async function writeUntil(url: string, writer: number, isEnded: () => boolean): Promise<void> {
  const ids: number[] = []
  const send = async (method: string, path: string, body?: object) => {
    const headers = { 'Content-Type': 'application/json' }
    const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return answer.text().then((text) => (answer.ok && text !== '' ? JSON.parse(text) : undefined))
  }
  while (!isEnded()) {
    try {
      const chance = Math.random()
      const one = ids[Math.floor(Math.random() * ids.length)]
      const email = `same-${writer % 2}@example.com`
      if (chance < 0.3 || one === undefined) {
        const items = Array.from({ length: 1 + Math.floor(Math.random() * 60) }, (_, n) => ({ name: `${n}`, price: 1 }))
        for (const { id } of (await send('POST', '/items/bulk', items)) ?? []) if (ids.length < 500) ids.push(id)
      } else if (chance < 0.4)
        await send('POST', '/api/users/bulk', [
          { name: 'a', email: `${Math.random()}@example.com` },
          { name: 'b', email },
        ])
      else if (chance < 0.9) await send('PATCH', `/items/${one}`, { price: Math.ceil(Math.random() * 1e6) })
      else {
        await send('DELETE', `/items/${one}`)
        ids.splice(ids.indexOf(one), 1)
      }
    } catch {
      await sleep(20)
    }
  }
}

/** The ids of the entries of the log that a reader may follow. */
async function storedIds({ url }: TestDatabase): Promise<number[]> {
  const text = `SELECT id FROM audit_entries WHERE resource <> 'keys' ORDER BY id`
  if (!url.startsWith('file:')) return (await query(url, text)).rows.map(({ id }) => Number(id))
  const file = new DatabaseSync(url.slice('file:'.length), { readOnly: true })
  const rows = file.prepare(text).all() as { id: number }[]
  file.close()
  return rows.map(({ id }) => id)
}

/** The time from before a write until its event has arrived. */
async function measureLatency(database: TestDatabase): Promise<Measurement[]> {
  await using first = await startService(database.url, { settings: SETTINGS })
  await using second = await startService(database.url, { settings: SETTINGS })
  const result: Measurement[] = []
  for (const [where, target, p50, p99] of [
    ['same process', first, 10, 60],
    ['another process', second, 30, 150],
  ] as const) {
    const { times, faults } = await eventTimes(first, target, (count) => count === 500)
    const of = (name: string) => `${database.engine}: write to event, ${where}, ${name}`
    result.push(
      expectAtMost(of('p50'), percentile(times, 0.5), p50, 'ms'),
      expectAtMost(of('p99'), percentile(times, 0.99), p99, 'ms'),
      expectNone(of('faults'), faults),
    )
  }
  return result
}

/** The same while another program has written and does not commit. It has no audit entry, and so cannot fill a gap. */
export async function measureBesideWrite(database: TestDatabase, openMs = OPEN_MS): Promise<Measurement[]> {
  await using first = await startService(database.url, { settings: SETTINGS })
  await using second = await startService(database.url, { settings: SETTINGS })
  await eventTimes(first, second, (count) => count === 200)
  const measure = async (ms: number) => {
    const endMs = performance.now() + ms
    return (await eventTimes(first, second, () => performance.now() > endMs)).times
  }
  // Before and after, because the load of the machine changes.
  const before = await measure(openMs / 2)
  const open = await whileOpen(database.url, 'UPDATE items SET price = price + 1', () => measure(openMs))
  const without = [...before, ...(await measure(openMs / 2))].sort((a, b) => a - b)
  const [alone, during] = [percentile(without, 0.99), percentile(open, 0.99)]
  const name = 'PostgreSQL: write to event, p99'
  return [
    report(`${name}, without a foreign transaction`, `${rounded(alone)} ms`),
    expectAtMost(`${name}, during a foreign transaction of 60 s`, during, Math.round(alone * 120) / 100, 'ms'),
  ]
}

/**
 * Writes one record after the other.
 *
 * @returns the times until the event of each has arrived at a follower of `target`, shortest first
 */
async function eventTimes(source: Service, target: Service, isEnough: (count: number) => boolean) {
  const arrivals = new Map<string, number>()
  await using reader = new ChangeReader(target.url, await headOf(target), (name) =>
    arrivals.set(name, performance.now()),
  )
  await sleep(200)
  const times: number[] = []
  while (!isEnough(times.length)) {
    const startMs = performance.now()
    const name = `${times.length}`
    const body = JSON.stringify({ name, price: 1 })
    await fetch(`${source.url}/items`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
    while (!arrivals.has(name)) await sleep(0)
    times.push((arrivals.get(name) as number) - startMs)
  }
  return { times: times.sort((a, b) => a - b), faults: reader.faults.length }
}

async function headOf({ url }: Service): Promise<string> {
  const { cursor } = (await (await fetch(`${url}/api/changes`)).json()) as { cursor: string }
  return cursor
}

/** The memory of many streams, all of which get a change. */
async function measureStreams(database: TestDatabase): Promise<Measurement[]> {
  await using service = await startService(database.url, { settings: SETTINGS })
  await headOf(service)
  const before = await service.usage()
  const agent = new Agent({ maxSockets: STREAMS })
  let changed = 0
  const open = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { Accept: 'text/event-stream' }
      get(`${service.url}/api/changes`, { agent, headers }, (answer) => {
        answer.setEncoding('utf8').on('data', (text: string) => {
          if (text.includes('event: change')) changed++
        })
        answer.on('error', () => {})
        answer.once('data', () => resolve(answer))
      }).on('error', reject)
    })
  for (let opened = 0; opened < STREAMS; opened += 250) await Promise.all(Array.from({ length: 250 }, open))
  const after = await service.usage()
  const startMs = performance.now()
  const body = JSON.stringify({ name: 'Lamp', price: 1 })
  await fetch(`${service.url}/items`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
  while (changed < STREAMS && performance.now() - startMs < 10_000) await sleep(1)
  const ms = performance.now() - startMs
  agent.destroy()
  return [
    expectAtLeast('streams that got a change', changed, STREAMS, ''),
    expectAtMost('memory of each stream', (after.memory - before.memory) / STREAMS / 1024, 25, 'KiB'),
    report('heap of each stream', `${Math.round((after.heap - before.heap) / STREAMS / 1024)} KiB`),
    report('time until all streams have a change', `${Math.round(ms)} ms`),
  ]
}
