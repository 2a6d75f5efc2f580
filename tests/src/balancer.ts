import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { statusOf } from './service.ts'

const POLL_INTERVAL_MS = 100

interface Backend {
  port: number
  agent: Agent
  isReady: boolean
}

/**
 * A minimal load balancer. It polls `/readyz` of each backend every 100 ms and distributes requests round-robin over
 * keep-alive connections to those whose last response was 200. When a backend refuses the connection, the request goes
 * to the next one; no request is retried for any other reason. Failed requests get a 502.
 */
export async function startBalancer(ports: number[]) {
  const backends = ports.map((port): Backend => ({ port, agent: new Agent({ keepAlive: true }), isReady: true }))
  let requests = 0
  const server = createServer(async (req, res) => {
    const body = await buffer(req)
    const ready = backends.filter(({ isReady }) => isReady)
    const first = requests++
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
  }, POLL_INTERVAL_MS)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Whether the backend on `port` receives requests. */
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

/** @returns false when the backend refused the connection; otherwise `res` is complete */
function forward({ port, agent }: Backend, req: IncomingMessage, body: Buffer, res: ServerResponse): Promise<boolean> {
  const { method, url, headers } = req
  const { connection: _, ...forwarded } = headers
  return new Promise((resolve) => {
    const sent = request({ port, host: '127.0.0.1', agent, method, path: url, headers: forwarded }, (answer) => {
      const { connection: _, 'keep-alive': __, ...returned } = answer.headers
      res.writeHead(answer.statusCode ?? 502, returned)
      answer.pipe(res)
      answer.on('end', () => resolve(true))
      answer.on('error', () => {
        res.destroy()
        resolve(true)
      })
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') return resolve(false)
      if (!res.headersSent) res.writeHead(502).end(`backend connection failed: ${error.message}`)
      resolve(true)
    })
    sent.end(body)
  })
}
