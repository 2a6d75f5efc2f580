import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { expect, test } from 'vitest'
import { compose } from '../src/http/compose.ts'

/** What `GET /` is answered by the handlers as one layer, with the error's message where there is one. */
async function answerOf(...handlers: RequestHandler[]): Promise<string> {
  const app = express()
  app.use(compose(...handlers))
  app.use((_req, res) => void res.send('passed on'))
  const onError: ErrorRequestHandler = (error, _req, res, _next) => void res.send(`error: ${error.message}`)
  app.use(onError)
  await using server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).text()
}

// As a handler should not: what follows is neither returned nor awaited.
const forgets: RequestHandler = (_req, _res, next) => {
  next()
}
const waits: RequestHandler = async (_req, _res, next) => {
  await Promise.resolve()
  next()
}
const fault = new Error('of the handler')

test('handlers run in their order, and the last passes on', async () => {
  expect(await answerOf()).toBe('passed on')
  expect(await answerOf(forgets, waits)).toBe('passed on')
  expect(await answerOf(forgets, (_req, res) => void res.send('answered'), waits)).toBe('answered')
})

test('what a handler throws, rejects with or passes on is the error, whatever the handlers before it return', async () => {
  for (const before of [forgets, waits]) {
    const failing: RequestHandler[] = [
      () => {
        throw fault
      },
      () => Promise.reject(fault),
      (_req, _res, next) => next(fault),
    ]
    for (const handler of failing) expect(await answerOf(before, handler)).toBe('error: of the handler')
  }
})

test('a rejection without a reason is an error too', async () => {
  expect(await answerOf(forgets, () => Promise.reject())).toBe('error: A handler failed without an error')
})
