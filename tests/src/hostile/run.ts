import { setTimeout as sleep } from 'node:timers/promises'
import type { Service, Usage } from '../service.ts'
import { ask } from './ask.ts'
import { runClient } from './client.ts'
import { type HostileRequest, requestsTo } from './requests.ts'
import type { Target } from './targets.ts'

// Spread over addresses, each of which has its own ports.
const ADDRESSES = 200
const CONCURRENCY = 250
const POLL_INTERVAL_MS = 20
const FRESH_ATTEMPTS = 10
/** Maximum latency of a request from another address, on a new connection. */
export const FRESH_MS = 250

export interface HostileOptions {
  key: string
  /** Groups of targets. The service is checked after each group. */
  groups: Target[][]
  /** Selects requests by index; default: all. */
  isChosen?: (n: number) => boolean
  /** Time limit, in ms, for the service to release all resources after a group. */
  settleMs: number
  /** Called after each group. */
  log?: (line: string) => void
}

export interface HostileResult {
  requests: number
  statuses: Record<string, number>
  faults: string[]
  /** Latency, in ms, of a request from another address on a new connection, after each group. */
  fresh: number[]
  /** Time, in ms, until the service had released all resources, after each group. */
  settled: number[]
  usages: Usage[]
}

/** Sends hostile requests to each group of targets, and checks the service's state after each group. */
export async function runHostileClients(service: Service, options: HostileOptions): Promise<HostileResult> {
  const { key, groups, isChosen = () => true, settleMs, log } = options
  const outcome: HostileResult = { requests: 0, statuses: {}, faults: [], fresh: [], settled: [], usages: [] }
  const startedAt = (await metricsOf(service.url, key)).get('process_start_time_seconds')
  outcome.usages.push(await service.usage())
  let n = 0
  for (const targets of groups) {
    const name = targets.map(({ path }) => path).join(' ')
    const requests = targets.flatMap((target) => [...requestsTo(target, key)].filter(() => isChosen(n++)))
    await sendAll(service.port, requests, outcome)
    if (service.hasDied()) {
      outcome.faults.push(`the process has died: ${name}`)
      return outcome
    }
    const begun = performance.now()
    outcome.fresh.push(await freshMs(service.url, key))
    const leftovers = await waitUntilIdle(service.url, key, settleMs)
    outcome.settled.push(performance.now() - begun)
    for (const leftover of leftovers) outcome.faults.push(`${name}: ${leftover}`)
    if ((await metricsOf(service.url, key)).get('process_start_time_seconds') !== startedAt) {
      outcome.faults.push(`${name}: the process was replaced`)
    }
    outcome.usages.push(await service.usage())
    log?.(`${outcome.requests} requests, ${outcome.faults.length} faults: ${name}`)
  }
  return outcome
}

async function sendAll(port: number, requests: HostileRequest[], outcome: HostileResult): Promise<void> {
  let next = 0
  const sendNext = async () => {
    while (next < requests.length) {
      const n = next++
      const hostile = requests[n] as HostileRequest
      const { status = 'none', fault } = await runClient(port, `127.0.1.${(n % ADDRESSES) + 1}`, hostile)
      outcome.requests++
      outcome.statuses[status] = (outcome.statuses[status] ?? 0) + 1
      if (fault !== undefined) outcome.faults.push(`${hostile.name}: ${fault}`)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, sendNext))
}

/** Metrics of an idle service. The request and connection counted as 1 belong to the metrics request itself. */
const IDLE_METRICS: [name: string, value: number][] = [
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

function leftoversIn(metrics: Map<string, number>): string[] {
  return IDLE_METRICS.flatMap(([name, expected]) => {
    const value = metrics.get(name) ?? 0
    return value === expected ? [] : [`${name} is ${value}, expected ${expected}`]
  })
}

/** Polls the metrics until the service is idle, for at most `limitMs`. @returns the remaining leftovers */
async function waitUntilIdle(url: string, key: string, limitMs: number): Promise<string[]> {
  const begun = performance.now()
  for (;;) {
    const leftovers = leftoversIn(await metricsOf(url, key))
    if (leftovers.length === 0 || performance.now() - begun > limitMs) return leftovers
    await sleep(POLL_INTERVAL_MS)
  }
}

async function metricsOf(url: string, key: string): Promise<Map<string, number>> {
  const text = await ask(`${url}/metrics`, { key })
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

/** The best of several attempts, to exclude delays caused by the machine. */
async function freshMs(url: string, key: string): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < FRESH_ATTEMPTS && best > FRESH_MS; attempt++) {
    const begun = performance.now()
    await ask(`${url}/items/1`, { key })
    best = Math.min(best, performance.now() - begun)
  }
  return best
}
