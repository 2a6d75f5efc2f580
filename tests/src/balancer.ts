import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { statusOf } from './service.ts'

const EVERY_MS = 100

interface Backend {
  port: number
  agent: Agent
  isReady: boolean
}

/**
 * A trivial balancer. It asks each backend for `/readyz` every 100 ms and sends requests, by turns, to those that last
 * answered 200, over connections that it keeps alive. A backend that refuses the connection is passed over for another;
 * nothing else is ever sent twice. What comes to nothing is answered 502.
 */
export async function startBalancer(ports: number[]) {
  const backends = ports.map((port): Backend => ({ port, agent: new Agent({ keepAlive: true }), isReady: true }))
  let turn = 0
  const server = createServer(async (req, res) => {
    const body = await buffer(req)
    const ready = backends.filter(({ isReady }) => isReady)
    const first = turn++
    for (let tried = 0; tried < ready.length; tried++) {
      const backend = ready[(first + tried) % ready.length] as Backend
      if (await forward(backend, req, body, res)) return
    }
    res.writeHead(502).end('no backend is ready')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const poll = setInterval(() => {
    for (const backend of backends) {
      statusOf(`http://127.0.0.1:${backend.port}/readyz`).then((status) => {
        backend.isReady = status === 200
      })
    }
  }, EVERY_MS)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Whether requests are sent to `port`. */
    isReady: (port: number) => backends.some((backend) => backend.port === port && backend.isReady),
    [Symbol.asyncDispose]: async () => {
      clearInterval(poll)
      for (const { agent } of backends) agent.destroy()
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** @returns whether the request was answered; not so when the connection was refused */
function forward({ port, agent }: Backend, req: IncomingMessage, body: Buffer, res: ServerResponse): Promise<boolean> {
  const { method, url, headers } = req
  const { connection: _, ...passed } = headers
  return new Promise((resolve) => {
    const sent = request({ port, host: '127.0.0.1', agent, method, path: url, headers: passed }, (answer) => {
      const { connection: _, 'keep-alive': __, ...told } = answer.headers
      res.writeHead(answer.statusCode ?? 502, told)
      answer.pipe(res)
      answer.on('end', () => resolve(true))
      answer.on('error', () => {
        res.destroy()
        resolve(true)
      })
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') return resolve(false)
      if (!res.headersSent) res.writeHead(502).end(`the backend broke off: ${error.message}`)
      resolve(true)
    })
    sent.end(body)
  })
}
