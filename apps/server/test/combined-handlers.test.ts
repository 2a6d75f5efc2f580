import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { expect, test } from 'vitest'
import { compose } from '../src/http/combined-handlers.ts'

/** The body of `GET /` from the handlers as one layer, or the message of their error. */
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

// Neither returns nor awaits the rest of the chain, which a handler should do.
const detached: RequestHandler = (_req, _res, next) => {
  next()
}
const delayed: RequestHandler = async (_req, _res, next) => {
  await Promise.resolve()
  next()
}
const fault = new Error('of the handler')

test('handlers run in order, and the last passes control on', async () => {
  expect(await answerOf()).toBe('passed on')
  expect(await answerOf(detached, delayed)).toBe('passed on')
  expect(await answerOf(detached, (_req, res) => void res.send('answered'), delayed)).toBe('answered')
})

test('what a handler throws, rejects with or passes to next is the error, whatever earlier handlers return', async () => {
  for (const before of [detached, delayed]) {
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

test('a rejection without a reason is an error', async () => {
  expect(await answerOf(detached, () => Promise.reject())).toBe('error: A handler failed without an error')
})
