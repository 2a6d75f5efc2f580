import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { postgresDatabase } from './database.ts'
import { spawnService, temporaryFolder } from './service-process.ts'

const ATTACKER = '192.0.2.1'
const OTHER = '192.0.2.2'
// Some 1.6 MB. The service needs tens of milliseconds for such a page.
const TEXT = '😀'.repeat(200)
const BOOKS = Array.from({ length: 1_000 }, () => ({ title: TEXT, author: TEXT, published_date: '2020-01-01' }))
// Alone, each takes a few milliseconds; the margin is for a busy machine.
const MAX_MS = 6_000

/** The status of a GET and its time in ms, including that of a new connection. */
function ask(url: string, agent: Agent | false): Promise<{ status: number; ms: number }> {
  const startMs = performance.now()
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { 'X-Forwarded-For': OTHER } }, (answer) => {
      const { statusCode: status = 0 } = answer
      answer.resume().on('end', () => resolve({ status, ms: performance.now() - startMs }))
    }).on('error', reject)
  })
}

test.each([
  ['60 connections that each ask for one', { sockets: 60, ahead: 1, isKept: true }],
  ['50 new connections that each ask for 20', { sockets: 50, ahead: 20, isKept: false }],
  ['100 new connections that each ask for one', { sockets: 100, ahead: 1, isKept: false }],
])('a caller that asks for many large pages at once delays no other: %s', async (_, requests) => {
  await using folder = await temporaryFolder()
  const database = await postgresDatabase()
  await using service = spawnService(folder.path, {
    ...(database && { DATABASE_URL: database.url }),
    // Callers are addresses, which the requests state.
    ...{ TRUST_PROXY: 'loopback', ALLOW_ANONYMOUS: 'true', RATE_LIMIT: '0' },
  })
  const url = await service.url()
  const stored = await fetch(`${url}/books/bulk`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(BOOKS),
  })
  expect(stored.status).toBe(201)

  const kept = new Agent({ keepAlive: true, maxSockets: 1 })
  const answers: { what: string; status: number; ms: number }[] = []
  let isDone = false
  const probe = async (what: string, path: string, agent: Agent | false) => {
    while (!isDone) {
      answers.push({ what, ...(await ask(url + path, agent)) })
      await setTimeout(20)
    }
  }
  const probes = [
    probe('a kept connection', '/books/1', kept),
    probe('a new connection', '/books/1', false),
    probe('a health check', '/healthz', false),
  ]
  const workerData = { ...requests, url, path: '/books?limit=1000', caller: ATTACKER }
  await once(new Worker(new URL('page-requests.mjs', import.meta.url), { workerData }), 'exit')
  isDone = true
  await Promise.all(probes)
  kept.destroy()
  database?.release()
  expect(answers.filter(({ status, ms }) => status !== 200 || ms > MAX_MS)).toEqual([])
})
