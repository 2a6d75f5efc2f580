import { Client, type Dispatcher } from 'undici'
import type { RequestSpec } from './workloads.ts'

export interface Sample {
  requests: number
  seconds: number
  /** Of each request, in ms. */
  latencies: number[]
  /** Share of the time in which the load generator was busy, 0 to 1. */
  busy: number
}

const HEADERS = { 'content-type': 'application/json' }

/** Keep-alive connections to one server. */
export class Load {
  readonly #clients: Client[]

  constructor(url: string, connections: number) {
    this.#clients = Array.from({ length: connections }, () => new Client(url))
  }

  /**
   * Closed-loop load: each of `connections` sends its next request after the response to the previous one.
   *
   * @param nextRequest returns the next request
   * @param isRunning called before each request
   * @throws Error when a response's status is not `status`
   */
  async run(
    nextRequest: () => RequestSpec,
    status: number,
    connections: number,
    isRunning: () => boolean,
  ): Promise<Sample> {
    const latencies: number[] = []
    const begin = performance.now()
    // The kernel wakes a sleeping client at the expense of the process that sends the response: up to a tenth of the
    // CPU of a small response, more for a slower server. A client on another machine would not cost the server that
    // time, so this client never sleeps.
    let isOver = false
    let idleMs = 0
    let seen = 0
    let polled = begin
    const poll = () => {
      const now = performance.now()
      if (latencies.length === seen) idleMs += now - polled
      seen = latencies.length
      polled = now
      if (!isOver) setImmediate(poll)
    }
    poll()
    const loops = this.#clients.slice(0, connections).map(async (client) => {
      while (isRunning()) {
        const sent = performance.now()
        const request = nextRequest()
        const answered = await send(client, request)
        if (answered !== status) throw new Error(`${request.method} ${request.path} got status ${answered}`)
        latencies.push(performance.now() - sent)
      }
    })
    await Promise.all(loops).finally(() => {
      isOver = true
    })
    const ms = performance.now() - begin
    return { requests: latencies.length, seconds: ms / 1000, latencies, busy: 1 - idleMs / ms }
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.destroy()))
  }
}

/** @returns the status, after the end of the response. The body is ignored: checkAnswers compared it beforehand. */
function send(client: Client, { method, path, body }: RequestSpec): Promise<number> {
  return new Promise((resolve, reject) => {
    let status = 0
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => {},
      onResponseStart: (_controller, statusCode) => {
        status = statusCode
      },
      onResponseData: () => {},
      onResponseEnd: () => resolve(status),
      onResponseError: (_controller, error) => reject(error),
    }
    client.dispatch(body === undefined ? { method, path } : { method, path, body, headers: HEADERS }, handler)
  })
}
