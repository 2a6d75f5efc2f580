import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { Client, type Dispatcher } from 'undici'

export interface Outcome {
  /** Latencies of 200 responses, from sending to the end of the body, ascending, in ms. */
  admitted: number[]
  /** 503 responses with Retry-After. */
  rejected: number
  /** Other responses, and connection errors. */
  failed: number
  /** Requests not sent because no connection was free. */
  unsent: number
  seconds: number
}

const CONNECTIONS = 500

/** Open-loop load: sends requests at a constant rate, regardless of responses, over 500 connections opened beforehand. */
export async function openLoad(url: string, path: string, perSecond: number, ms: number): Promise<Outcome> {
  const outcome: Outcome = { admitted: [], rejected: 0, failed: 0, unsent: 0, seconds: 0 }
  const clients = Array.from({ length: CONNECTIONS }, () => new Client(url, { headersTimeout: 0, bodyTimeout: 0 }))
  for (const client of clients) await (await client.request({ method: 'GET', path: '/healthz' })).body.dump()
  const free = [...clients]
  const sendNext = () => {
    const client = free.pop()
    if (client === undefined) {
      outcome.unsent++
      return
    }
    send(client, path, outcome, () => free.push(client))
  }
  const begin = performance.now()
  let started = 0
  while (performance.now() - begin < ms) {
    const due = ((performance.now() - begin) / 1000) * perSecond
    while (started < due) {
      started++
      sendNext()
    }
    // Never sleeps, like the bench's client: waking a sleeping client would cost the server CPU.
    await setImmediate()
  }
  outcome.seconds = (performance.now() - begin) / 1000
  while (free.length < CONNECTIONS) await sleep(10)
  await Promise.all(clients.map((client) => client.destroy()))
  outcome.admitted.sort((a, b) => a - b)
  return outcome
}

function send(client: Client, path: string, outcome: Outcome, done: () => void): void {
  const sent = performance.now()
  let status = 0
  let hasRetryAfter = false
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: () => {},
    onResponseStart: (_controller, statusCode, headers) => {
      status = statusCode
      hasRetryAfter = headers['retry-after'] !== undefined
    },
    onResponseData: () => {},
    onResponseEnd: () => {
      if (status === 200) outcome.admitted.push(performance.now() - sent)
      else if (status === 503 && hasRetryAfter) outcome.rejected++
      else outcome.failed++
      done()
    },
    onResponseError: () => {
      outcome.failed++
      done()
    },
  }
  client.dispatch({ method: 'GET', path }, handler)
}
