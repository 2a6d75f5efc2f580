import type { ServerResponse as HttpResponse, RequestListener, Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { envelope } from '@resource/contract'
import { or } from '@resource/openapi/contract'
import type { Express, Request, Response } from 'express'
import type { Connections } from './connections.ts'

// `import` from node:http evaluates all its exports, including WebSocket, which loads undici: 13 MB that no request needs.
const { createServer, IncomingMessage, STATUS_CODES, ServerResponse } = process.getBuiltinModule('node:http')

const MAX_STOP_MS = 10_000
const IDLE_CHECK_MS = 50
// During shutdown, for the rest of a request head.
const GRACE_FOR_HEAD_MS = 1_000
// One read returns at most 64 KiB, so this drains about 6 MB per second.
const DRAIN_PAUSE_MS = 10

/** Timeouts in ms. A proxy's idle timeout, often 60 s, must be shorter than `keepAliveTimeout`. */
const TIMEOUTS = {
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
}
const INACTIVITY_MS = 120_000
// Connections that the kernel queues until they are accepted; net.core.somaxconn applies if it is lower.
const BACKLOG = 4096

// No body stream for requests without a body: saves a tenth of the cost of a small response.
const OPTIONS = { requireHostHeader: false, optimizeEmptyRequests: true }

/**
 * Creates the HTTP server of `app`. Requests go through `connections`.
 *
 * @param newId the id of a request that does not get that far
 */
export function createHttpServer(app: Express, connections: Connections, newId: () => string): Server {
  const handle: RequestListener = connections.take.bind(connections)
  const server: Server = createServer({ ...messagesOf(app, connections), ...TIMEOUTS, ...OPTIONS }, handle)
  // For clients that neither read the response nor send the rest of the request.
  server.setTimeout(INACTIVITY_MS)
  server.on('connection', (socket: Socket) => connections.open(socket))
  // A client that half-closes the connection after its request still gets the response, however long that takes.
  Object.assign(server, { httpAllowHalfOpen: true })
  // A client that sends the body only once it is asked to is not asked if the head is refused, for example with a 401.
  server.on('checkContinue', (req, res) => {
    handle(Object.assign(req, { askForBody: () => res.writeContinue() }), res)
  })
  // An unknown expectation may be ignored (RFC 9110, 10.1.1); Node's own response to it has no body.
  server.on('checkExpectation', handle)
  server.on('clientError', (error: ParserError, socket: Socket) => {
    // The client would take this response for that of a pending earlier request.
    if (!connections.endAfterResponses(socket)) return
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy()
      return
    }
    const [status, reason, message] = refusalOf(error)
    refuse(socket, newId(), status, reason, message)
    // The client closed first; it may still read.
    const isAborted = error.code === 'HPE_INVALID_EOF_STATE'
    connections.refused(socket, isAborted ? undefined : status)
  })
  // Without this listener, Node closes the connection without a response.
  server.on('connect', (_req, socket: Socket) => {
    // Node has removed its own listeners: an error without one would end the process.
    socket.on('error', () => socket.destroy())
    if (!connections.endAfterResponses(socket)) return
    refuse(socket, newId(), 405, 'method_not_supported', 'CONNECT is not allowed: this server is not a proxy', [
      'Allow: ',
    ])
    // Nothing reads from the connection any more, so that its end would go unnoticed.
    socket.destroySoon()
  })
  return server
}

type Callback = (error?: Error | null) => void

/**
 * Request and response classes for `createServer`. Express replaces the prototype of each message, which slows down V8's
 * property lookups. Messages of these classes have Express's prototypes from the start (expressjs/express#5998).
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
    // One signature that covers all of Node's overloads.
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
 * Listener for a response's `finish` event. Drains the rest of the request body, so that the next request on the connection
 * can be read. It drains slowly: Node reads at full speed, so refused clients could take CPU time and memory from others.
 * It must run before Node's own listener, which discards a body that has not been read.
 */
export function drainBody(this: HttpResponse): void {
  const { req } = this
  if (req.complete || req.destroyed) return
  req.on('data', () => {
    req.pause()
    setTimeout(() => req.resume(), DRAIN_PAUSE_MS)
  })
  req.resume()
  // Starts reading synchronously: on the next tick Node would discard the body.
  req.read(0)
}

const LISTEN_ADVICE: Record<string, string> = {
  EADDRINUSE: 'The port is in use: set PORT to another, or stop the program that uses it',
  EACCES: 'The port requires elevated privileges: set PORT to 1024 or higher',
  EADDRNOTAVAIL: 'The address does not belong to this machine: set HOST to one of its addresses',
  ENOTFOUND: 'The host name cannot be resolved: set HOST to an address of this machine',
}

/**
 * Listens on an address.
 *
 * @returns `http://127.0.0.1:3000`
 * @throws Error with advice if the port is in use or privileged, or the address is not local or cannot be resolved
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

/**
 * Stops listening. Closes connections without a request immediately, those whose request head has begun to arrive after 1 s,
 * busy ones after their response, and the rest after 10 s.
 */
export function close(server: Server, connections: Connections): Promise<void> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => server.closeAllConnections(), MAX_STOP_MS)
    const graceEndMs = performance.now() + GRACE_FOR_HEAD_MS
    // If the response was sent before the body had arrived, as with a 413, the connection becomes idle only later.
    const idleCheck = setInterval(() => {
      server.closeIdleConnections()
      connections.closeWithoutRequest({ withPartialHead: performance.now() > graceEndMs })
    }, IDLE_CHECK_MS)
    server.close(() => {
      clearInterval(idleCheck)
      clearTimeout(limit)
      resolve()
    })
  })
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** The methods of the service. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** An error of Node's HTTP server. Those of its parser have a reason and the bytes at which it stopped. */
interface ParserError extends NodeJS.ErrnoException {
  reason?: string
  rawPacket?: Buffer
  bytesParsed?: number
}

type Refusal = [status: number, reason: string, message: string]

const HTTP_VERSION: Refusal = [505, 'http_version_not_supported', 'The HTTP version must be 1.0 or 1.1']
const REFUSALS: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: [431, 'head_too_large', 'Request header fields are too large'],
  HPE_INVALID_EOF_STATE: [400, 'bad_request', 'The request is incomplete'],
  HPE_PAUSED_H2_UPGRADE: HTTP_VERSION,
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'timeout', 'The request did not arrive in time'],
}

function refusalOf(error: ParserError): Refusal {
  const { code = '', reason } = error
  if (code === 'HPE_INVALID_METHOD' && isRequestLine(lineAt(error))) {
    return [501, 'not_implemented', `The method is unknown: it must be ${or(METHODS)}, in capital letters`]
  }
  // The parser gives the same code to a line that does not end with CRLF.
  if (code === 'HPE_INVALID_VERSION' && reason !== 'Expected CRLF after version') return HTTP_VERSION
  return REFUSALS[code] ?? [400, 'bad_request', `Malformed HTTP request${reason === undefined ? '' : `: ${reason}`}`]
}

const REQUEST_LINE = /^[!#$%&'*+.^_`|~\w-]+ [^ ]+ HTTP\/\d\.\d\r?\n/
// The rest of the line is in a later packet, for which the parser does not wait.
const BEGUN_REQUEST_LINE = /^[!#$%&'*+.^_`|~\w-]+(?: [^ \n]*(?: [HTP/\d.]*\r?)?)?$/

function isRequestLine(line: string): boolean {
  return REQUEST_LINE.test(line) || BEGUN_REQUEST_LINE.test(line)
}

/** The line at which the parser stopped, as far as it is in the same packet, with its end. */
function lineAt({ rawPacket, bytesParsed = 0 }: ParserError): string {
  const text = rawPacket?.toString('latin1') ?? ''
  const start = text.lastIndexOf('\n', bytesParsed - 1) + 1
  const end = text.indexOf('\n', start)
  return end < 0 ? text.slice(start) : text.slice(start, end + 1)
}

/** Refuses a request that never reaches Express: writes the error response directly, and ends the connection. */
function refuse(
  socket: Socket,
  id: string,
  status: number,
  reason: string,
  message: string,
  headers: string[] = [],
): void {
  const body = errorBody(status, reason, message)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${id}`,
    'Connection: close',
    ...headers,
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Responds with 505 to a version that Node's parser accepts besides 1.0 and 1.1: 0.9 or 2.0. */
export function refuseVersion(res: HttpResponse, id: string): void {
  const body = errorBody(...HTTP_VERSION)
  const [status] = HTTP_VERSION
  res.shouldKeepAlive = false
  res.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': id,
  })
  res.end(body)
}

function errorBody(status: number, reason: string, message: string): string {
  return JSON.stringify(envelope.error.body({ status: status as 400, reason, message, details: '', fields: [] }))
}
