import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Line, Place } from './line.ts'

const CONNECTION = Symbol('connection')
type Connected = Socket & { [CONNECTION]?: Connection }

/**
 * What a connection is at. It waits for its client in `head` (a request's head, which may have begun), `body` (the rest of
 * a request's body), `rest` (the same, of a request that is answered) and `answer` (the kernel has not taken it whole, or
 * may hold so much of it that whether the client reads it is uncertain). `idle`, it has been served and nothing has come
 * since.
 */
export type State = 'head' | 'body' | 'working' | 'answer' | 'rest' | 'idle'

// So long a connection may wait, whatever the bound of its address. A busy client that opens thousands at once takes a
// while to send its requests.
const GRACE_MS = 1_000
const GRACE_FOR_HEAD_MS = 3_000
// Often, so that few are closed at a time.
const SWEEP_MS = 50
const SWEEPS_A_LOOK = 20
const UNKNOWN = -1
// The kernel takes megabytes for a client that reads nothing, and Node cannot ask it how much was read. An answer larger
// than this counts as unread until the next request comes.
const SURELY_SMALL_BYTES = 128 * 1024

class Connection {
  readonly socket: Socket
  readonly place = new Place<Connection>(this)
  readonly placeAtAddress = new Place<Connection>(this)
  /** Of the caller; undefined where the peer is a proxy, whose requests have callers of their own. */
  readonly address: string | undefined
  state: State = 'head'
  /** The line of its address, while it waits for a client whose address is known. */
  line: Line<Connection> | undefined
  sinceMs = 0
  /** The request at hand, until its body has come and its answer has gone. */
  req: IncomingMessage | undefined
  res: ServerResponse | undefined
  /** Requests that came before the one at hand was answered (pipelining). */
  readonly later: { req: IncomingMessage; res: ServerResponse }[] = []
  /** What had been read when it was last seen idle. */
  bytesRead = UNKNOWN
  /** What had been written when it last had nothing to answer. */
  bytesWritten = 0
  isClosed = false

  constructor(socket: Socket, address: string | undefined) {
    this.socket = socket
    this.address = address
  }
}

export interface ConnectionsOptions {
  /** Most connections. */
  most: number
  /** Most connections of an address that wait for their client. */
  mostWaiting: number
  /** The address, or network, that a limit counts a peer as; undefined for a trusted proxy. */
  addressOf: (socket: Socket) => string | undefined
  /** The same of a request's caller. */
  callerOf: (req: IncomingMessage) => string
  /** Whether there is no time for a request. Asked before the request counts as one that is worked on. */
  refuses: (req: IncomingMessage) => boolean
  /** Answers a request, or refuses it. */
  serve: (req: IncomingMessage, res: ServerResponse, isRefused: boolean) => void
}

/**
 * The connections of a server and what each of them is at. What waits for its client takes no place among the requests
 * that are worked on, and is bounded for each address and in total: at a bound the connection that has waited longest is
 * closed. The requests of one connection are served one after another, since their answers must be in order anyhow.
 */
export class Connections {
  readonly #options: ConnectionsOptions
  readonly #working = new Line<Connection>()
  /** Those that are not worked on, the one that has waited longest first. */
  readonly #waiting = new Line<Connection>()
  readonly #waitingByAddress = new Map<string, Line<Connection>>()
  /** The lines of addresses that are beyond their bound. */
  readonly #crowded = new Set<Line<Connection>>()
  readonly #sweeper: NodeJS.Timeout
  #sweeps = 0
  readonly #closed = { address: 0, total: 0 }

  constructor(options: ConnectionsOptions) {
    this.#options = options
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS).unref()
  }

  /** How many requests are worked on. */
  get working(): number {
    return this.#working.size
  }

  /** Takes up a new connection. */
  open(socket: Connected): void {
    const connection = new Connection(socket, this.#options.addressOf(socket))
    socket[CONNECTION] = connection
    socket.on('close', () => this.#remove(connection))
    this.#enter(connection, 'head')
    if (this.#working.size + this.#waiting.size <= this.#options.most) return
    // Rather of an address beyond its bound than of those who keep theirs.
    const [crowded] = this.#crowded
    const oldest = (crowded ?? this.#waiting).first?.member
    if (oldest !== undefined) this.#close(oldest, 'total')
  }

  /** Takes up a request whose head has come. */
  take(req: IncomingMessage, res: ServerResponse): void {
    const connection = of(req.socket)
    if (connection === undefined) res.destroy()
    else if (connection.res !== undefined) connection.later.push({ req, res })
    else this.#begin(connection, req, res)
  }

  /** A request has come whole. */
  arrived({ socket }: IncomingMessage): void {
    const connection = of(socket)
    if (connection?.state === 'body') this.#move(connection, 'working')
    else if (connection?.state === 'rest') this.#goIdle(connection)
  }

  /** The kernel has not taken what was written of an answer: its client must read first. @returns whether that is new */
  stalled({ socket }: ServerResponse): boolean {
    const connection = of(socket)
    if (connection?.state !== 'working') return false
    this.#move(connection, 'answer')
    return true
  }

  /** The kernel has taken what was written of an answer, and there is more to come. */
  drained({ socket }: ServerResponse): void {
    const connection = of(socket)
    if (connection?.state === 'answer') this.#move(connection, 'working')
  }

  /** What came on a connection was no request, and was refused: the client has yet to close. */
  refused(socket: Socket): void {
    const connection = of(socket)
    if (connection?.state === 'idle') this.#move(connection, 'head')
  }

  /**
   * What came on a connection is no request. Where answers to others are still to come, they do, and the connection ends
   * behind the last; one that breaks in its own body gets none.
   *
   * @returns whether the connection has no such answers, so that this one can be given
   */
  endBehindAnswers(socket: Socket): boolean {
    const connection = of(socket)
    const { req, res, later = [] } = connection ?? {}
    if (req === undefined || res === undefined) return true
    if (!req.complete) {
      socket.destroy()
      return false
    }
    if (later.at(-1)?.req.complete === false) later.pop()
    const last = later.at(-1)?.res ?? res
    // An answer that has begun cannot say that it is the last.
    last.shouldKeepAlive = false
    last.on('close', () => socket.destroySoon())
    return false
  }

  /** The answers that are under way. */
  *answers(): Generator<ServerResponse> {
    for (const line of [this.#working, this.#waiting]) {
      for (const { res, later } of line) {
        if (res !== undefined) yield res
        for (const { res } of later) yield res
      }
    }
  }

  /** How many connections are at what. */
  states(): Record<State, number> {
    const states = { head: 0, body: 0, working: this.#working.size, answer: 0, rest: 0, idle: 0 }
    for (const { state } of this.#waiting) states[state]++
    return states
  }

  /** How many connections were closed at the bound of an address, and at the bound of all. */
  closed(): Record<'address' | 'total', number> {
    return this.#closed
  }

  /** Bounds nothing any more. */
  stop(): void {
    clearInterval(this.#sweeper)
  }

  #begin(connection: Connection, req: IncomingMessage, res: ServerResponse): void {
    connection.req = req
    connection.res = res
    connection.bytesRead = UNKNOWN
    res.on('close', () => this.#end(connection))
    const isRefused = this.#options.refuses(req)
    this.#move(connection, req.readableEnded || req.complete ? 'working' : 'body')
    this.#options.serve(req, res, isRefused)
  }

  #end(connection: Connection): void {
    connection.res = undefined
    if (connection.isClosed) return
    const next = connection.later.shift()
    // Else an answer was the last of its connection, and who sent more had been told so or will be cut.
    if (next !== undefined && connection.socket.writable) this.#begin(connection, next.req, next.res)
    else if (connection.req?.complete === false) this.#move(connection, 'rest')
    else this.#goIdle(connection)
  }

  #goIdle(connection: Connection): void {
    const { bytesWritten } = connection.socket
    const isLarge = bytesWritten - connection.bytesWritten > SURELY_SMALL_BYTES
    connection.bytesWritten = bytesWritten
    this.#move(connection, isLarge ? 'answer' : 'idle')
    connection.req = undefined
  }

  #move(connection: Connection, state: State): void {
    if (connection.isClosed) return
    this.#leave(connection)
    this.#enter(connection, state)
  }

  #enter(connection: Connection, state: State): void {
    connection.state = state
    if (state === 'working') {
      this.#working.add(connection.place)
      return
    }
    this.#waiting.add(connection.place)
    if (state === 'idle') return
    const address = connection.address ?? (connection.req && this.#options.callerOf(connection.req))
    // A proxy that has not said whose request comes: nobody's.
    if (address === undefined) return
    connection.sinceMs = performance.now()
    connection.line = this.#lineOf(address)
    connection.line.add(connection.placeAtAddress)
    if (connection.line.size > this.#options.mostWaiting) this.#crowded.add(connection.line)
  }

  #leave(connection: Connection): void {
    const line = connection.state === 'working' ? this.#working : this.#waiting
    line.remove(connection.place)
    if (connection.line === undefined) return
    connection.line.remove(connection.placeAtAddress)
    if (connection.line.size <= this.#options.mostWaiting) this.#crowded.delete(connection.line)
    connection.line = undefined
  }

  #lineOf(address: string): Line<Connection> {
    let line = this.#waitingByAddress.get(address)
    if (line === undefined) {
      line = new Line()
      this.#waitingByAddress.set(address, line)
    }
    return line
  }

  #remove(connection: Connection): void {
    if (connection.isClosed) return
    this.#leave(connection)
    connection.isClosed = true
    connection.later.length = 0
  }

  #close(connection: Connection, bound: 'address' | 'total'): void {
    this.#closed[bound]++
    this.#remove(connection)
    // Not closed in order: the kernel would keep what is unread, 2.5 MB of an answer, until the client takes it.
    connection.socket.resetAndDestroy()
  }

  #sweep(): void {
    const nowMs = performance.now()
    for (const line of this.#crowded) {
      // Those within their grace do not count: a request that is about to come closes nothing.
      const late: Connection[] = []
      for (const connection of line) {
        const waitedMs = nowMs - connection.sinceMs
        if (waitedMs < GRACE_MS) break
        if (connection.state !== 'head' || waitedMs >= GRACE_FOR_HEAD_MS) late.push(connection)
      }
      late.length = Math.max(0, late.length - this.#options.mostWaiting)
      for (const connection of late) this.#close(connection, 'address')
    }
    if (++this.#sweeps % SWEEPS_A_LOOK === 0) this.#look()
  }

  #look(): void {
    for (const [address, line] of this.#waitingByAddress) {
      if (line.size === 0) this.#waitingByAddress.delete(address)
    }
    this.#lookAtIdle()
  }

  /** Node does not tell when the head of a further request begins. */
  #lookAtIdle(): void {
    for (const connection of this.#waiting) {
      if (connection.state !== 'idle') continue
      const { bytesRead } = connection.socket
      if (connection.bytesRead === UNKNOWN) connection.bytesRead = bytesRead
      else if (connection.bytesRead !== bytesRead) this.#move(connection, 'head')
    }
  }
}

function of(socket: Connected | null): Connection | undefined {
  return socket?.[CONNECTION]
}
