import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type {} from '@resource/postgres-test/vitest'
import { expect, inject, test } from 'vitest'
import { postgresDatabase } from './database.ts'
import { spawnService, temporaryFolder } from './service-process.ts'

const ATTACKER = '192.0.2.1'
const PAGE = '/books?limit=1000'
// Some 1.6 MB. The service needs tens of milliseconds for such a page.
const TEXT = '😀'.repeat(200)
const BOOKS = Array.from({ length: 1_000 }, () => ({ title: TEXT, author: TEXT, published_date: '2020-01-01' }))

/** The status of a GET. */
function ask(url: string, caller: string, agent: Agent | false): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { 'X-Forwarded-For': caller } }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
    }).on('error', reject)
  })
}

// Calls of some milliseconds: a batch has its turn after each.
const CALLS = 30
const INPUTS = Object.fromEntries(Array.from({ length: CALLS }, (_, index) => [index, { limit: 200 }]))
const BATCH = `/trpc/${Array(CALLS).fill('books.list')}?batch=1&input=${encodeURIComponent(JSON.stringify(INPUTS))}`

const KEPT = { path: PAGE, pages: 1, sockets: 40, ahead: 1, isKept: true }
const NEW = { path: PAGE, pages: 1, sockets: 100, ahead: 1, isKept: false }
const PIPELINED = { path: PAGE, pages: 1, sockets: 20, ahead: 4, isKept: false }
// On SQLite alone, where a call reads at once. On PostgreSQL the calls wait for connections, and most of them are refused.
const BATCHES = { path: BATCH, pages: CALLS, sockets: 20, ahead: 1, isKept: true }

/** The CPU time of the event loop of each process that serves, in ms. */
function cpuTimes(pid: number): Record<string, number> {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  const pids = children === '' ? [`${pid}`] : children.split(' ')
  return Object.fromEntries(
    pids.map((each) => [each, Number(readFileSync(`/proc/${each}/schedstat`, 'utf8').split(' ')[0]) / 1e6]),
  )
}

/** For how long this thread could have run, but other threads did, in ms. */
const runDelayMs = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / 1e6

const differences = (before: Record<string, number>, after: Record<string, number>) =>
  Object.entries(after).map(([pid, ms]) => ms - (before[pid] ?? 0))

// How many pages a process serves while one other request waits: on a kept connection, and on a new one. They are counted by the
// CPU time of the process: on a busy machine all take longer, so that the number stays. Each step of the request (to arrive, to be
// served, to get its row from PostgreSQL) waits for a few pages. A new connection also waits until those before it are accepted, at
// least one per page.
const ROWS = [
  ['40 connections that each ask for one', KEPT, 10, 10],
  ['20 new connections that each ask for four', PIPELINED, 10, 30],
  ['100 new connections that each ask for one', NEW, 10, 80],
  ['20 connections that each ask for thirty in a batch', BATCHES, 10, 20],
] as const

/** The requests of other callers that wait for too many pages while one asks for many. */
async function delayedBeside(url: string, pid: number, [, requests, most, mostOfNew]: (typeof ROWS)[number]) {
  const kept = new Agent({ keepAlive: true, maxSockets: 1 })
  const answers: { what: string; status: number; waitedMs: number; most: number }[] = []
  let isDone = false
  const probe = async (what: string, caller: string, path: string, agent: Agent | false) => {
    while (!isDone) {
      const before = cpuTimes(pid)
      const beforeMs = runDelayMs()
      const status = await ask(url + path, caller, agent)
      // The service may have sent the answer while this client did not run.
      const waitedMs = Math.max(...differences(before, cpuTimes(pid))) - (runDelayMs() - beforeMs)
      answers.push({ what, status, waitedMs, most: agent === kept ? most : mostOfNew })
      await setTimeout(20)
    }
  }
  const begin = cpuTimes(pid)
  const probes = [
    probe('a kept connection', '192.0.2.2', '/books/1', kept),
    probe('a new connection', '192.0.2.3', '/books/1', false),
    probe('a health check', '192.0.2.4', '/healthz', false),
  ]
  const workerData = { ...requests, url, caller: ATTACKER }
  await once(new Worker(new URL('page-requests.mjs', import.meta.url), { workerData }), 'exit')
  isDone = true
  await Promise.all(probes)
  kept.destroy()
  const totalMs = differences(begin, cpuTimes(pid)).reduce((sum, ms) => sum + ms, 0)
  const pageMs = totalMs / (requests.sockets * requests.ahead * requests.pages)
  return answers
    .map(({ what, status, waitedMs, most }) => ({ what, status, pages: waitedMs / pageMs, most }))
    .filter(({ status, pages, most }) => status !== 200 || pages > most)
}

// Most of the work is the same on both engines.
const processes = inject('postgres') === undefined ? 1 : 2

test.runIf(process.platform === 'linux').for(ROWS.filter(([, each]) => processes === 1 || each !== BATCHES))(
  `a caller that asks for many large pages at once delays no other: %s, processes: ${processes}`,
  async (row) => {
    await using folder = await temporaryFolder()
    const database = await postgresDatabase()
    await using service = spawnService(folder.path, {
      ...(database && { DATABASE_URL: database.url }),
      // Callers are addresses, which the requests state.
      ...{
        WORKERS: String(processes),
        TRUST_PROXY: 'loopback',
        ALLOW_ANONYMOUS: 'true',
        RATE_LIMIT: '0',
        MAX_DELAY_MS: '60000',
      },
    })
    const url = await service.url()
    const stored = await fetch(`${url}/books/bulk`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(BOOKS),
    })
    expect(stored.status).toBe(201)

    // A client that the machine does not let run counts the pages of that time as well; a fault of the service repeats itself.
    let delayed = await delayedBeside(url, service.pid, row)
    for (let more = 2; more > 0 && delayed.length > 0; more--) delayed = await delayedBeside(url, service.pid, row)
    database?.release()
    expect(delayed).toEqual([])
  },
)
