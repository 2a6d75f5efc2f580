import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Database } from '@resource/database'
import type { ApiError } from '@resource/openapi'
import express, { type ErrorRequestHandler } from 'express'
import { expect, test } from 'vitest'
import { health } from '../src/http/health.ts'

/** Serves the two health paths over a database with this `ping`. */
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

test('/readyz pings the database at most once a second and never concurrently, whatever the result', async () => {
  const pingedAtMs: number[] = []
  let concurrent = 0
  let maxConcurrent = 0
  await using server = await startHealth(async () => {
    pingedAtMs.push(performance.now())
    maxConcurrent = Math.max(maxConcurrent, ++concurrent)
    // Requests during the first ping share its result, however long it takes.
    if (pingedAtMs.length === 1) await expect.poll(server.received).toBe(50)
    concurrent--
    if (pingedAtMs.length === 2) throw new Error('gone')
  })
  expect(new Set(await Promise.all(Array.from({ length: 50 }, server.ready)))).toEqual(new Set([READY]))
  expect(pingedAtMs.length).toBe(1)
  const answers = [READY]
  // Between pings the last result is cached.
  while (pingedAtMs.length < 3) answers.push(await server.ready())
  expect(answers.filter((answer, at) => answer !== answers[at - 1])).toEqual([
    READY,
    'The database does not answer',
    READY,
  ])
  expect(maxConcurrent).toBe(1)
  const gaps = pingedAtMs.slice(1).map((ms, at) => ms - (pingedAtMs[at] as number))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1000)
})

test('/readyz reports a stop immediately, also to requests that wait for the database', async () => {
  let isStopping = false
  const pinged = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  await using server = await startHealth(
    () => {
      pinged.resolve()
      return answered.promise
    },
    () => isStopping,
  )
  const waiting = server.ready()
  await pinged.promise
  isStopping = true
  expect(await server.ready()).toBe('The service is stopping')
  answered.resolve()
  expect(await waiting).toBe('The service is stopping')
})
