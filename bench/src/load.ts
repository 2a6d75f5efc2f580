import { Client, type Dispatcher } from 'undici'
import type { Ask } from './works.ts'

export interface Sample {
  requests: number
  seconds: number
  /** Of each request, in ms. */
  latencies: number[]
  /** The part of the time in which it had something to do, 0 to 1. */
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
   * Sends requests, on each of `connections` the next once the one before is answered.
   *
   * @param ask the next request
   * @param goesOn asked before each request
   * @throws Error when an answer's status is not `status`
   */
  async run(ask: () => Ask, status: number, connections: number, goesOn: () => boolean): Promise<Sample> {
    const latencies: number[] = []
    const begin = performance.now()
    // A client that sleeps is woken by the kernel at the cost of the process that answers it: up to a tenth of a small
    // answer's, and the more the slower the server is. One on another machine would cost the server nothing, and so
    // this one never sleeps.
    let isOver = false
    let idleMs = 0
    let seen = 0
    let looked = begin
    const poll = () => {
      const now = performance.now()
      if (latencies.length === seen) idleMs += now - looked
      seen = latencies.length
      looked = now
      if (!isOver) setImmediate(poll)
    }
    poll()
    const lanes = this.#clients.slice(0, connections).map(async (client) => {
      while (goesOn()) {
        const sent = performance.now()
        const asked = ask()
        const answered = await send(client, asked)
        if (answered !== status) throw new Error(`${asked.method} ${asked.path} answered ${answered}`)
        latencies.push(performance.now() - sent)
      }
    })
    await Promise.all(lanes).finally(() => {
      isOver = true
    })
    const ms = performance.now() - begin
    return { requests: latencies.length, seconds: ms / 1000, latencies, busy: 1 - idleMs / ms }
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.destroy()))
  }
}

/** The status, once the whole answer is there. Its bytes are counted by nobody: the answers were checked before. */
function send(client: Client, { method, path, body }: Ask): Promise<number> {
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
