import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { LinkedQueue, QueueNode } from '@resource/database'

const CONNECTION = Symbol('connection')
const REFUSED = Symbol('refused')
type Connected = Socket & { [CONNECTION]?: Connection }
type Refused = ServerResponse & { [REFUSED]?: number }

/**
 * The state of a connection. In four states the server waits for the client:
 * - `head`: for a request head, which may have begun to arrive.
 * - `body`: for the rest of a request body.
 * - `rest`: for the rest of the body of a request that already has its response.
 * - `answer`: for the client to read a response. The kernel has not accepted all of it, or buffers so much that the client
 *   may not be reading.
 *
 * `queued`: a request has arrived and waits for its turn. `working`: a request is being processed. `following`: it waits for changes
 * of others. `idle`: the last request is done and nothing has arrived since.
 */
export type State = 'head' | 'queued' | 'body' | 'working' | 'following' | 'answer' | 'rest' | 'idle'

/** A limit that closes connections: the bytes of unread responses, all connections, or the requests that one sends ahead. */
type Bound = 'unread' | 'total' | 'pipelined'

// The kernel buffers megabytes for a client that reads nothing, and Node cannot query how much was read. A larger response
// counts as unread until the next request arrives.
const SURELY_SMALL_BYTES = 128 * 1024
// The kernel buffers unread responses in memory that all connections of the machine share, and gets slow when much of it is used.
const MAX_UNREAD_BYTES = 128 * 1024 * 1024
// Clients that read are not closed because others do not.
const GRACE_MS = 250
// Each waiting request takes some kilobytes.
const MAX_PIPELINED = 100
// Of the connections of a burst of monitoring, in a turn of the event loop: their requests take some 2 ms.
const READ_PER_TURN = 16

class Connection {
  readonly socket: Socket
  readonly node = new QueueNode<Connection>(this)
  readonly unreadNode = new QueueNode<Connection>(this)
  state: State = 'head'
  /** The current request, until its body has arrived and its response has been sent. */
  req: IncomingMessage | undefined
  res: ServerResponse | undefined
  /** Requests that arrived before the current one was answered (pipelining). */
  readonly later: { req: IncomingMessage; res: ServerResponse }[] = []
  /** `socket.bytesWritten` when the connection last had no request to answer. */
  bytesWritten = 0
  /** In state `answer`: the size of the response, as far as it has been written, and since when it is unread. */
  unreadBytes = 0
  unreadSinceMs = 0
  isClosed = false
  /** Whether its latest request was one that monitoring sends. */
  isMonitor = false
  isUnheard = false

  constructor(socket: Socket) {
    this.socket = socket
  }
}

export interface ConnectionsOptions {
  /** The maximum number of connections. */
  max: number
  /** Whether only monitoring sends such a request. */
  isMonitoring: (req: IncomingMessage) => boolean
  /** Takes a request, and calls `begin` when its turn comes: now or later. */
  take: (req: IncomingMessage, res: ServerResponse, begin: () => void) => void
}

/**
 * Tracks the connections of a server and their states. Connections that wait for their client do not count as working. Their
 * number is limited, and so is the size of the unread responses: at a limit, the connection that has waited longest is
 * closed. Pipelined requests of one connection are served sequentially, because their
 * responses must be in order.
 */
export class Connections {
  readonly #options: ConnectionsOptions
  readonly #queued = new LinkedQueue<Connection>()
  readonly #working = new LinkedQueue<Connection>()
  readonly #following = new LinkedQueue<Connection>()
  /** Connections in the other states, longest wait first. */
  readonly #waiting = new LinkedQueue<Connection>()
  /** Those in state `answer`. */
  readonly #unread = new LinkedQueue<Connection>()
  #unreadBytes = 0
  readonly #closed: Record<Bound, number> = { unread: 0, total: 0, pipelined: 0 }
  /** Those that are not read at the moment, in the order in which they will be. */
  readonly #unheard: Connection[] = []
  /** Of these, those that are read again since this turn of the event loop, and those since an earlier one. */
  #heardNow: Connection[] = []
  #heard: Connection[] = []
  /** Whether the idle connections of monitoring are read in turns. */
  #isBurst = false

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  /** The number of requests in progress. */
  get working(): number {
    return this.#working.size
  }

  /** Adds a new connection. */
  open(socket: Connected): void {
    const connection = new Connection(socket)
    socket[CONNECTION] = connection
    socket.on('close', () => this.#remove(connection))
    this.#enter(connection, 'head')
    if (this.#queued.size + this.#working.size + this.#waiting.size <= this.#options.max) return
    const oldest = this.#waiting.first?.member
    if (oldest !== undefined) this.#close(oldest, 'total')
  }

  /** Handles a request whose head has arrived. */
  take(req: IncomingMessage, res: ServerResponse): void {
    const connection = of(req.socket)
    // Node still parses what arrived before the connection was closed.
    if (connection === undefined || connection.isClosed) res.destroy()
    else if (connection.res === undefined) this.#take(connection, req, res)
    else if (connection.later.length < MAX_PIPELINED) connection.later.push({ req, res })
    else this.#close(connection, 'pipelined')
  }

  /** Notes that a request has arrived completely. */
  arrived({ socket }: IncomingMessage): void {
    const connection = of(socket)
    if (connection?.state === 'body') this.#move(connection, 'working')
    else if (connection?.state === 'rest') this.#goIdle(connection)
  }

  /** Notes whether a request waits for changes of others, for which there is a limit of its own. */
  follow({ socket }: IncomingMessage, isFollowing: boolean): void {
    const connection = of(socket)
    if (connection === undefined || connection.res === undefined) return
    if (isFollowing) this.#move(connection, 'following')
    else if (connection.state === 'following') {
      // Of what was sent, all but the last part was read.
      connection.bytesWritten = connection.socket.bytesWritten
      this.#move(connection, 'working')
    }
  }

  /**
   * Notes that the kernel did not accept all of a response: the client must read first.
   *
   * @returns whether the state changed
   */
  stalled({ socket }: ServerResponse): boolean {
    const connection = of(socket)
    if (connection?.state !== 'working') return false
    this.#move(connection, 'answer', connection.socket.bytesWritten - connection.bytesWritten)
    return true
  }

  /** Notes that the kernel has accepted the part of a response written so far. */
  drained({ socket }: ServerResponse): void {
    const connection = of(socket)
    if (connection?.state === 'answer') this.#move(connection, 'working')
  }

  /**
   * Notes that a connection sent malformed HTTP, which was refused: the client has not closed yet.
   *
   * @param status of the refusal; undefined if the client ended the request early
   */
  refused(socket: Socket, status: number | undefined): void {
    const connection = of(socket)
    if (connection?.res !== undefined && status !== undefined) (connection.res as Refused)[REFUSED] = status
    if (connection?.state === 'idle') this.#move(connection, 'head')
  }

  /**
   * Handles malformed HTTP on a connection. Pending responses to earlier requests are still sent, and the connection closes
   * after the last. If the current request's own body is malformed or late after its response has begun, the connection is
   * closed: a second response to the request would be taken for the response to another.
   *
   * @returns whether no response is pending, so that the caller can send the error response
   */
  endAfterResponses(socket: Socket): boolean {
    const connection = of(socket)
    const { req, res, later = [] } = connection ?? {}
    if (req === undefined) return true
    if (res === undefined) {
      socket.destroySoon()
      return false
    }
    if (!req.complete) {
      if (res.headersSent) socket.destroy()
      return !res.headersSent
    }
    if (later.at(-1)?.req.complete === false) later.pop()
    const last = later.at(-1)?.res ?? res
    // If its headers are already sent, `Connection: close` can no longer be added.
    last.shouldKeepAlive = false
    last.on('close', () => socket.destroySoon())
    return false
  }

  /**
   * Closes connections on which no byte has arrived yet, which `closeIdleConnections` of Node.js keeps open.
   *
   * @param withPartialHead whether to also close those with an incomplete request head
   */
  closeWithoutRequest({ withPartialHead }: { withPartialHead: boolean }): void {
    for (const { req, socket } of this.#waiting) {
      if (req === undefined && (withPartialHead || socket.bytesRead === 0)) socket.destroy()
    }
  }

  /** The responses in progress. */
  *responses(): Generator<ServerResponse> {
    for (const queue of [this.#queued, this.#working, this.#following, this.#waiting]) {
      for (const { res, later } of queue) {
        if (res !== undefined) yield res
        for (const { res } of later) yield res
      }
    }
  }

  /**
   * Stops to read the idle connections of monitoring, and reads a few of them in each later turn of the event loop. Node parses
   * all requests that have arrived before it returns to anything else, which takes 50 ms for a burst of 3,000 health checks.
   */
  readMonitorsInTurns(): void {
    for (const connection of this.#isBurst ? this.#heard.splice(0) : this.#waiting)
      if (connection.isMonitor && connection.state === 'idle') this.#stopReading(connection)
    if (!this.#isBurst) setImmediate(this.#readNextMonitors)
    this.#isBurst = true
  }

  readonly #readNextMonitors = () => {
    this.#heard.push(...this.#heardNow)
    this.#heardNow = this.#unheard.splice(0, READ_PER_TURN)
    for (const connection of this.#heardNow) {
      connection.isUnheard = false
      if (!connection.socket.destroyed) connection.socket.resume()
    }
    this.#isBurst = this.#unheard.length > 0
    if (this.#isBurst) setImmediate(this.#readNextMonitors)
    else [this.#heardNow, this.#heard] = [[], []]
  }

  #stopReading(connection: Connection): void {
    if (connection.isUnheard) return
    connection.isUnheard = true
    connection.socket.pause()
    this.#unheard.push(connection)
  }

  /** The number of connections in each state. */
  states(): Record<State, number> {
    const [queued, working] = [this.#queued.size, this.#working.size]
    const following = this.#following.size
    const states = { head: 0, queued, body: 0, working, following, answer: 0, rest: 0, idle: 0 }
    for (const { state } of this.#waiting) states[state]++
    return states
  }

  /** The number of connections closed by each limit. */
  closed(): Record<Bound, number> {
    return this.#closed
  }

  #take(connection: Connection, req: IncomingMessage, res: ServerResponse): void {
    connection.req = req
    connection.res = res
    connection.isMonitor = this.#options.isMonitoring(req)
    res.on('close', () => this.#end(connection))
    let hasBegun = false
    this.#options.take(req, res, () => {
      hasBegun = true
      const isComplete = req.readableEnded || req.complete
      // After the body of a declined upgrade that arrives in several parts, Node parses no further request.
      if (!isComplete && req.headers.upgrade !== undefined) res.shouldKeepAlive = false
      this.#move(connection, isComplete ? 'working' : 'body')
    })
    if (!hasBegun) this.#move(connection, 'queued')
  }

  #end(connection: Connection): void {
    connection.res = undefined
    if (connection.isClosed) return
    const next = connection.later.shift()
    // If the socket is not writable, this was the last response: further requests are dropped.
    if (next !== undefined && connection.socket.writable) this.#take(connection, next.req, next.res)
    else if (connection.req?.complete === false) this.#move(connection, 'rest')
    else this.#goIdle(connection)
  }

  #goIdle(connection: Connection): void {
    const { bytesWritten } = connection.socket
    const unreadBytes = bytesWritten - connection.bytesWritten
    connection.bytesWritten = bytesWritten
    if (unreadBytes > SURELY_SMALL_BYTES) this.#move(connection, 'answer', unreadBytes)
    else this.#move(connection, 'idle')
    connection.req = undefined
    // Its next request comes after those of the others.
    if (this.#isBurst && connection.isMonitor) this.#stopReading(connection)
  }

  #move(connection: Connection, state: State, unreadBytes = 0): void {
    if (connection.isClosed) return
    this.#leave(connection)
    this.#enter(connection, state, unreadBytes)
  }

  #enter(connection: Connection, state: State, unreadBytes = 0): void {
    connection.state = state
    this.#queueOf(state).add(connection.node)
    if (state !== 'answer') return
    connection.unreadSinceMs = performance.now()
    connection.unreadBytes = unreadBytes
    this.#unreadBytes += unreadBytes
    this.#unread.add(connection.unreadNode)
    this.#closeUnread()
  }

  #leave(connection: Connection): void {
    this.#queueOf(connection.state).remove(connection.node)
    if (connection.state !== 'answer') return
    this.#unread.remove(connection.unreadNode)
    this.#unreadBytes -= connection.unreadBytes
  }

  #queueOf(state: State): LinkedQueue<Connection> {
    if (state === 'working') return this.#working
    if (state === 'following') return this.#following
    return state === 'queued' ? this.#queued : this.#waiting
  }

  #closeUnread(): void {
    const latestMs = performance.now() - GRACE_MS
    for (const connection of this.#unread) {
      if (this.#unreadBytes <= MAX_UNREAD_BYTES || connection.unreadSinceMs > latestMs) return
      this.#close(connection, 'unread')
    }
  }

  #remove(connection: Connection): void {
    if (connection.isClosed) return
    this.#leave(connection)
    connection.isClosed = true
    connection.later.length = 0
  }

  #close(connection: Connection, bound: Bound): void {
    this.#closed[bound]++
    this.#remove(connection)
    // A reset: after an orderly close the kernel would keep unread data, up to 2.5 MB, until the client reads it.
    connection.socket.resetAndDestroy()
  }
}

/** The status of the response that was sent for a request; undefined if the connection closed first. A stream ends with its client. */
export function sentStatus(res: Refused): number | undefined {
  const isStream = res.headersSent && of(res.req.socket)?.state === 'following'
  return res[REFUSED] ?? (res.writableFinished || isStream ? res.statusCode : undefined)
}

function of(socket: Connected | null): Connection | undefined {
  return socket?.[CONNECTION]
}
