import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
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

const KEPT = { sockets: 60, ahead: 1, isKept: true }
const NEW = { sockets: 100, ahead: 1, isKept: false }
const PIPELINED = { sockets: 40, ahead: 4, isKept: false }

const ANY = Number.POSITIVE_INFINITY

// How many pages are served while one other request waits: on a kept connection, and on a new one. On a busy machine both take
// longer, so that the number stays. Each step of the request (to arrive, to be served, to get its row from PostgreSQL) waits for
// a few pages. A new connection also waits until those before it are accepted, at least one per page. Of two processes, the primary
// hands over each connection while both serve pages: the longer the machine lets it wait, the more.
test.for([
  ['60 connections that each ask for one', 1, KEPT, 15, 15],
  ['40 new connections that each ask for four', 1, PIPELINED, 15, 55],
  ['100 new connections that each ask for one', 1, NEW, 15, 60],
  ['60 connections that each ask for one', 2, KEPT, 20, ANY],
  ['40 new connections that each ask for four', 2, PIPELINED, 20, ANY],
  ['100 new connections that each ask for one', 2, NEW, 20, ANY],
] as const)('a caller that asks for many large pages at once delays no other: %s, processes: %i', async (row) => {
  const [, processes, requests, most, mostOfNew] = row
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
  const pageBytes = (await (await fetch(url + PAGE)).arrayBuffer()).byteLength

  const received = new BigInt64Array(new SharedArrayBuffer(8))
  const pages = () => Number(Atomics.load(received, 0)) / pageBytes
  const kept = new Agent({ keepAlive: true, maxSockets: 1 })
  const delayed: object[] = []
  let isDone = false
  const probe = async (what: string, caller: string, path: string, agent: Agent | false) => {
    while (!isDone) {
      const before = pages()
      const status = await ask(url + path, caller, agent)
      const meanwhile = pages() - before
      if (status !== 200 || meanwhile > (agent === kept ? most : mostOfNew)) delayed.push({ what, status, meanwhile })
      await setTimeout(20)
    }
  }
  const probes = [
    probe('a kept connection', '192.0.2.2', '/books/1', kept),
    probe('a new connection', '192.0.2.3', '/books/1', false),
    probe('a health check', '192.0.2.4', '/healthz', false),
  ]
  const workerData = { ...requests, url, path: PAGE, caller: ATTACKER, received }
  await once(new Worker(new URL('page-requests.mjs', import.meta.url), { workerData }), 'exit')
  isDone = true
  await Promise.all(probes)
  kept.destroy()
  database?.release()
  expect(delayed).toEqual([])
})
