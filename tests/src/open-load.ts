import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { Client, type Dispatcher } from 'undici'

export interface Outcome {
  /** From sending to the end of the answer 200, ascending, in ms. */
  admitted: number[]
  /** Answers 503 with Retry-After. */
  refused: number
  /** Other answers, and none. */
  failed: number
  /** Requests that found no connection free. */
  unsent: number
  seconds: number
}

const CONNECTIONS = 500

/** Requests at an even pace, whether the answers come or not, over 500 connections that are open before. */
export async function openLoad(url: string, path: string, perSecond: number, ms: number): Promise<Outcome> {
  const outcome: Outcome = { admitted: [], refused: 0, failed: 0, unsent: 0, seconds: 0 }
  const clients = Array.from({ length: CONNECTIONS }, () => new Client(url, { headersTimeout: 0, bodyTimeout: 0 }))
  for (const client of clients) await (await client.request({ method: 'GET', path: '/healthz' })).body.dump()
  const free = [...clients]
  const ask = () => {
    const client = free.pop()
    if (client === undefined) {
      outcome.unsent++
      return
    }
    send(client, path, outcome, () => free.push(client))
  }
  const begin = performance.now()
  let asked = 0
  while (performance.now() - begin < ms) {
    const due = ((performance.now() - begin) / 1000) * perSecond
    while (asked < due) {
      asked++
      ask()
    }
    // As the client of the bench, it never sleeps: the server would pay for waking it.
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
  let saysWhen = false
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: () => {},
    onResponseStart: (_controller, statusCode, headers) => {
      status = statusCode
      saysWhen = headers['retry-after'] !== undefined
    },
    onResponseData: () => {},
    onResponseEnd: () => {
      if (status === 200) outcome.admitted.push(performance.now() - sent)
      else if (status === 503 && saysWhen) outcome.refused++
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
