import { Client, type Dispatcher } from 'undici'
import type { Ask } from './works.ts'

export interface Sample {
  requests: number
  seconds: number
  /** Of each request, in ms. */
  latencies: number[]
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
    const lanes = this.#clients.slice(0, connections).map(async (client) => {
      while (goesOn()) {
        const sent = performance.now()
        const asked = ask()
        const answered = await send(client, asked)
        if (answered !== status) throw new Error(`${asked.method} ${asked.path} answered ${answered}`)
        latencies.push(performance.now() - sent)
      }
    })
    await Promise.all(lanes)
    return { requests: latencies.length, seconds: (performance.now() - begin) / 1000, latencies }
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
