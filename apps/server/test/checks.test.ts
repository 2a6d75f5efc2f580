import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { expect, test } from 'vitest'
import { type Check, checked, useFirst } from '../src/http/checks.ts'

/** The checks that ran for `GET /` and its body, or the message of its error. The handler passes on a request with four checks. */
async function answerOf(...checks: Check[]): Promise<string> {
  const app = express()
  const ran: number[] = []
  const counted = checks.map(
    (check, n): Check =>
      (req, res) => {
        ran.push(n)
        return check(req, res)
      },
  )
  app.get('/', (_req, res) => void res.send(`${ran}: passed on`))
  const handle = checked(counted, async (_req, res, next) =>
    counted.length > 3 ? next() : void res.end(`${ran}: handled`),
  )
  useFirst(app, handle, (error, _req, res) => void res.end(`${ran}: ${(error as Error).message}`))
  await using server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).text()
}

const passes: Check = () => undefined
const passesLater: Check = () => Promise.resolve()
const refuses: Check = () => {
  throw new Error('refused')
}
const refusesLater: Check = () => Promise.reject(new Error('refused'))

test('the handler runs after all checks, in their order', async () => {
  expect(await answerOf()).toBe(': handled')
  expect(await answerOf(passes, passes)).toBe('0,1: handled')
  expect(await answerOf(passesLater, passes, passesLater)).toBe('0,1,2: handled')
})

test('a request that the handler passes on is one of Express', async () => {
  expect(await answerOf(passes, passesLater, passes, passes)).toBe('0,1,2,3: passed on')
})

test('a check that throws or rejects ends the request with its error', async () => {
  for (const refusal of [refuses, refusesLater]) {
    expect(await answerOf(refusal, passes)).toBe('0: refused')
    expect(await answerOf(passesLater, refusal, passes)).toBe('0,1: refused')
  }
})

test('a rejection without a reason is an error', async () => {
  expect(await answerOf(() => Promise.reject())).toBe('0: Rejected promise')
})
