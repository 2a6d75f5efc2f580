import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Database } from '@resource/database'
import type { ApiError } from '@resource/openapi'
import express, { type ErrorRequestHandler } from 'express'
import { expect, test } from 'vitest'
import { health } from '../src/http/health.ts'

/** The two paths on a server of their own, over a database that answers `ping` as told. */
async function startHealth(ping: () => Promise<void>, isStopping = () => false) {
  const app = express()
  app.use(health({ ping } as Database, isStopping))
  const onError: ErrorRequestHandler = (error: ApiError, _req, res, _next) =>
    void res.status(error.status).send(error.message)
  app.use(onError)
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  let received = 0
  server.on('request', () => received++)
  return {
    received: () => received,
    ready: async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).text(),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await server[Symbol.asyncDispose]()
    },
  }
}

const READY = '{"status":"ready"}'

test('/readyz asks the database at most once a second, one question at a time, whatever the answer', async () => {
  const askedMs: number[] = []
  let atOnce = 0
  let mostAtOnce = 0
  await using server = await startHealth(async () => {
    askedMs.push(performance.now())
    mostAtOnce = Math.max(mostAtOnce, ++atOnce)
    // What is asked before the first answer gets that answer, however long it takes to come in.
    if (askedMs.length === 1) await expect.poll(server.received, { timeout: 30_000 }).toBe(50)
    atOnce--
    if (askedMs.length === 2) throw new Error('gone')
  })
  expect(new Set(await Promise.all(Array.from({ length: 50 }, server.ready)))).toEqual(new Set([READY]))
  expect(askedMs.length).toBe(1)
  const answers = [READY]
  // All the answers between are the last one, kept.
  while (askedMs.length < 3) answers.push(await server.ready())
  expect(answers.filter((answer, at) => answer !== answers[at - 1])).toEqual([
    READY,
    'The database does not answer',
    READY,
  ])
  expect(mostAtOnce).toBe(1)
  const gaps = askedMs.slice(1).map((ms, at) => ms - (askedMs[at] as number))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1000)
})

test('/readyz says that the service is stopping at once, also to who has waited for the database', async () => {
  let isStopping = false
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  await using server = await startHealth(
    () => {
      asked.resolve()
      return answered.promise
    },
    () => isStopping,
  )
  const waiting = server.ready()
  await asked.promise
  isStopping = true
  expect(await server.ready()).toBe('The service is stopping')
  answered.resolve()
  expect(await waiting).toBe('The service is stopping')
})
