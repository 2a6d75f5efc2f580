import type { ServerResponse as Answer, RequestListener, Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { envelope } from '@resource/contract'
import type { Express, Request, Response } from 'express'
import type { Connections } from './connections.ts'

// An import of node:http reads all its exports, of which WebSocket is the whole of undici: 13 MB that no request needs.
const { createServer, IncomingMessage, ServerResponse } = process.getBuiltinModule('node:http')

const LONGEST_STOP_MS = 10_000
const LOOK_MS = 50
// What is read at a time is 64 KiB at most: so some 6 MB a second.
const DRAIN_PAUSE_MS = 10

/** How long a caller may take, in ms. A proxy's idle time-out, often 60 s, must be shorter than `keepAliveTimeout`. */
const TIMES = {
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
}
const SILENCE_MS = 120_000
// Connections that the kernel keeps until they are accepted; it takes its own bound (net.core.somaxconn) where that is less.
const BACKLOG = 4096

// A request without a body needs no stream for it: a tenth of what a small answer costs.
const OPTIONS = { requireHostHeader: false, optimizeEmptyRequests: true }

/** The HTTP server of `app`. `connections` passes its requests on. */
export function createHttpServer(app: Express, connections: Connections): Server {
  const handle: RequestListener = (req, res) => connections.take(req, res)
  const server: Server = createServer({ ...messagesOf(app, connections), ...TIMES, ...OPTIONS }, handle)
  // A caller who neither reads the answer nor sends what is missing of the request.
  server.setTimeout(SILENCE_MS)
  server.on('connection', (socket: Socket) => connections.open(socket))
  // Who has sent all it will send and closed its half still gets the answer, however long that takes.
  Object.assign(server, { httpAllowHalfOpen: true })
  // An expectation nobody knows may be ignored (RFC 9110, 10.1.1); Node's own answer to it has no body.
  server.on('checkExpectation', handle)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // One that is still to come on this connection would be taken for this one's.
    if (!connections.endBehindAnswers(socket)) return
    connections.refused(socket)
    refuseMalformed(error, socket)
  })
  return server
}

type Callback = (error?: Error | null) => void

/**
 * The request and response classes for the server of `app`, to be given to `createServer`. Express puts its own
 * prototypes in the place of each message's, after which V8 is slow to find its properties; messages made by these
 * classes have those prototypes from the start (expressjs/express#5998).
 *
 * @public for bench/scripts/in-process.ts
 */
export function messagesOf(app: Express, connections: Connections) {
  class AppRequest extends IncomingMessage {
    override push(chunk: unknown, encoding?: BufferEncoding): boolean {
      if (chunk === null) connections.arrived(this)
      return super.push(chunk, encoding)
    }
  }
  class AppResponse extends ServerResponse<AppRequest> {
    // Node's own signatures, in the one form that takes them all.
    override write(chunk: unknown, encoding?: BufferEncoding | Callback, callback?: Callback): boolean {
      const hasRoom = super.write(chunk, encoding as BufferEncoding, callback)
      if (!hasRoom && connections.stalled(this)) this.once('drain', drained)
      return hasRoom
    }

    override end(chunk?: unknown, encoding?: BufferEncoding | Callback, callback?: Callback): this {
      super.end(chunk, encoding as BufferEncoding, callback as () => void)
      if (this.socket !== null && this.socket.writableLength > 0) connections.stalled(this)
      return this
    }
  }
  function drained(this: AppResponse) {
    connections.drained(this)
  }
  Object.setPrototypeOf(AppRequest.prototype, app.request)
  Object.setPrototypeOf(AppResponse.prototype, app.response)
  app.request = AppRequest.prototype as Request
  app.response = AppResponse.prototype as Response
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse }
}

/**
 * Listener of an answer's `finish`. Drains what is left of the request's body, so that the next request on the connection
 * can be heard; but slowly. Node would do it as fast as it comes, and whoever was refused could so take time and memory
 * from everybody else. It must come before Node's own listener, which lets go of a body that nobody has begun to read.
 */
export function drainBody(this: Answer): void {
  const { req } = this
  if (req.complete || req.destroyed) return
  req.on('data', () => {
    req.pause()
    setTimeout(() => req.resume(), DRAIN_PAUSE_MS)
  })
  req.resume()
  // Begins at once: by the next tick Node would have let go of it.
  req.read(0)
}

const LISTEN_ADVICE: Record<string, string> = {
  EADDRINUSE: 'The port is in use: set PORT to another, or stop the program that uses it',
  EACCES: 'The port is for privileged users: set PORT to one above 1023',
  EADDRNOTAVAIL: 'This machine does not have the address: set HOST to one that it has',
  ENOTFOUND: 'The name cannot be resolved: set HOST to an address of this machine',
}

/**
 * Listens on an address.
 *
 * @returns `http://127.0.0.1:3000`
 * @throws Error that says what to do when the address is taken, reserved, of another machine or unknown
 */
export function listen(server: Server, { PORT, HOST }: { PORT: number; HOST: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const advice = LISTEN_ADVICE[error.code ?? '']
      reject(advice === undefined ? error : new Error(`${advice} (${HOST}:${PORT}, ${error.code})`))
    })
    server.listen({ port: PORT, host: HOST, backlog: BACKLOG }, () => {
      server.removeAllListeners('error')
      resolve(urlOf(server.address() as AddressInfo))
    })
  })
}

/** Closes idle connections at once, busy ones after their answer, stuck ones after 10 s. */
export function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => server.closeAllConnections(), LONGEST_STOP_MS)
    // Where the answer went before the body had come whole, as with a 413, a connection becomes idle without another.
    const look = setInterval(() => server.closeIdleConnections(), LOOK_MS)
    server.close(() => {
      clearInterval(look)
      clearTimeout(limit)
      resolve()
    })
  })
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

const REFUSALS: Record<string, [number, string]> = {
  HPE_HEADER_OVERFLOW: [431, 'Request header fields are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
}

// What is not HTTP never reaches Express, so its answer is written by hand.
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [code, message] = REFUSALS[error.code ?? ''] ?? [400, 'Malformed HTTP request']
  const body = JSON.stringify(envelope.error.body({ status: code as 400, message, details: '', fields: [] }))
  const head = [
    `HTTP/1.1 ${code} ${message}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
