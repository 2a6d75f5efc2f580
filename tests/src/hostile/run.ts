import { setTimeout as sleep } from 'node:timers/promises'
import type { Service, Usage } from '../service.ts'
import { ask } from './ask.ts'
import { play } from './client.ts'
import { type HostileRequest, requestsTo } from './requests.ts'
import type { Target } from './targets.ts'

// An address each, so that the bound of an address cuts none of them.
const ADDRESSES = 200
const AT_ONCE = 250
const LOOK_MS = 20
const FRESH_TRIES = 3
/** How fast a fresh request must be answered. */
export const FRESH_MS = 250

export interface HostileOptions {
  key: string
  /** What is sent to at a time. */
  groups: Target[][]
  /** Which of the requests to a target are sent; all when absent. */
  isChosen?: (n: number) => boolean
  /** How long anything may be left after a group, in ms. */
  leftForMs: number
  /** Told after each group. */
  tell?: (line: string) => void
}

export interface HostileOutcome {
  requests: number
  statuses: Record<string, number>
  faults: string[]
  /** A request of another address, on a connection of its own, after each group, in ms. */
  fresh: number[]
  /** How long something was left after each group, in ms. */
  left: number[]
  usages: Usage[]
}

/** Sends hostile requests, a group to each target, and looks after each group at what they have done to the service. */
export async function beHostile(service: Service, options: HostileOptions): Promise<HostileOutcome> {
  const { key, groups, isChosen = () => true, leftForMs, tell } = options
  const outcome: HostileOutcome = { requests: 0, statuses: {}, faults: [], fresh: [], left: [], usages: [] }
  const startedAt = (await metricsOf(service.url, key)).get('process_start_time_seconds')
  outcome.usages.push(await service.usage())
  let n = 0
  for (const targets of groups) {
    const name = targets.map(({ path }) => path).join(' ')
    const requests = targets.flatMap((target) => [...requestsTo(target, key)].filter(() => isChosen(n++)))
    await playAll(service.port, requests, outcome)
    if (service.hasDied()) {
      outcome.faults.push(`the process has died: ${name}`)
      return outcome
    }
    const begun = performance.now()
    outcome.fresh.push(await freshMs(service.url, key))
    const left = await waitUntilNothingIsLeft(service.url, key, leftForMs)
    outcome.left.push(performance.now() - begun)
    for (const leftover of left) outcome.faults.push(`${name}: ${leftover}`)
    if ((await metricsOf(service.url, key)).get('process_start_time_seconds') !== startedAt) {
      outcome.faults.push(`${name}: another process`)
    }
    outcome.usages.push(await service.usage())
    tell?.(`${outcome.requests} requests, ${outcome.faults.length} faults: ${name}`)
  }
  return outcome
}

async function playAll(port: number, requests: HostileRequest[], outcome: HostileOutcome): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < requests.length) {
      const n = next++
      const hostile = requests[n] as HostileRequest
      const { status = 'none', fault } = await play(port, `127.0.1.${(n % ADDRESSES) + 1}`, hostile)
      outcome.requests++
      outcome.statuses[status] = (outcome.statuses[status] ?? 0) + 1
      if (fault !== undefined) outcome.faults.push(`${hostile.name}: ${fault}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}

/** What there is when nobody but the one who asks is there. */
const NOTHING_LEFT: [name: string, value: number][] = [
  ['resource_unexpected_errors_total', 0],
  ['resource_http_requests_open', 1],
  ['resource_http_connections{state="working"}', 1],
  ...['head', 'body', 'answer', 'rest', 'idle'].map((state): [string, number] => [
    `resource_http_connections{state="${state}"}`,
    0,
  ]),
  ['nodejs_active_resources{type="TCPServerWrap"}', 1],
  ['nodejs_active_resources{type="TCPSocketWrap"}', 1],
  ['nodejs_active_resources{type="Timeout"}', 0],
]

function leftovers(metrics: Map<string, number>): string[] {
  return NOTHING_LEFT.flatMap(([name, value]) => {
    const is = metrics.get(name) ?? 0
    return is === value ? [] : [`${name} is ${is}, not ${value}`]
  })
}

/** Asks until nothing is left, or for `forMs`. @returns what is left then */
async function waitUntilNothingIsLeft(url: string, key: string, forMs: number): Promise<string[]> {
  const begun = performance.now()
  for (;;) {
    const left = leftovers(await metricsOf(url, key))
    if (left.length === 0 || performance.now() - begun > forMs) return left
    await sleep(LOOK_MS)
  }
}

async function metricsOf(url: string, key: string): Promise<Map<string, number>> {
  const text = await ask(`${url}/metrics`, { key })
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

/** The best of a few: what the machine does to one of them is not the service's doing. */
async function freshMs(url: string, key: string): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let tried = 0; tried < FRESH_TRIES && best > FRESH_MS; tried++) {
    const begun = performance.now()
    await ask(`${url}/items/1`, { key })
    best = Math.min(best, performance.now() - begun)
  }
  return best
}
