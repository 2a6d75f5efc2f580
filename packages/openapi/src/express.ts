import type { ServerResponse } from 'node:http'
import { finished } from 'node:stream'
import type { Request, RequestHandler, Response } from 'express'
import type { ApiError } from './api-error.ts'
import { readBytes } from './body.ts'
import type { Contract, Parts } from './contract.ts'
import { type Core, createCore, FALLBACK_REPLY, type Reply, type ServeOptions, type Transport } from './core.ts'
import type { Operation } from './implement.ts'
import { hasDisconnected } from './signal.ts'
import type { CallContext } from './trpc.ts'
import { createTrpc, type Trpc } from './trpc-http.ts'

export interface ExpressHandlers {
  /** Handles each request whose path is in the contract, or tRPC's, and passes on all others. Mount it first. */
  handle: RequestHandler
  /** Responds with a 404 to each request that no handler accepted. Mount it last. */
  notFound: RequestHandler
  /** Sends an error response, in the error form of the route. */
  sendError: (error: unknown, req: Request, res: Response) => Promise<void>
  /**
   * Prepares a fixed error response that is cheap to send. It contains no details of the request, and `onError` is not
   * called. It can be sent before Express handles the request.
   */
  prepareError: (error: ApiError) => (req: Request, res: ServerResponse) => Promise<void>
}

/** Serves a contract on Express: REST, and tRPC if `options.trpc` is given. */
export function expressHandlers<Context extends object & CallContext>(
  contract: Contract,
  operations: Operation<Context>[],
  options: ServeOptions<Context, Request>,
): ExpressHandlers {
  const core = createCore(contract, operations, options, EXPRESS)
  return {
    ...toExpress(core, options.trpc && createTrpc(operations, options, EXPRESS, core)),
    prepareError: (error) => {
      const reply = core.prepareError(error)
      return async (req, res) => write(res, await reply(req, req.url))
    },
  }
}

/** Reads Express requests. */
export const EXPRESS: Transport<Request> = { readBytes, hasDisconnected }

/** A core as Express handlers. */
export function toExpress(core: Core<Request>, trpc?: Trpc<Request>): Omit<ExpressHandlers, 'prepareError'> {
  // The mount path of `handle` for requests that it passed on: later handlers may have another mount path.
  const bases = new WeakMap<Request, string>()

  const handle: RequestHandler = (req, res, next) => {
    if (trpc?.takes(req)) return trpc.respond(req).then((reply) => writeTrpc(res, reply))
    const respond = core.find(req)
    if (respond !== undefined) return send(req, res, respond)
    if (req.baseUrl !== '') bases.set(req, req.baseUrl)
    return next()
  }

  const send = async (req: Request, res: Response, respond: () => Promise<Reply>): Promise<void> => {
    const reply = await respond()
    try {
      const writing = write(res, reply)
      if (writing !== undefined) await writing
    } catch (error) {
      await sendError(error, req, res)
    }
  }

  const notFound: RequestHandler = async (req, res) => writeError(res, await core.notFound(req, bases.get(req)))

  const sendError: ExpressHandlers['sendError'] = async (error, req, res) =>
    writeError(res, await core.errorReply(error, req, bases.get(req)))

  return { handle, notFound, sendError }
}

// If another handler has begun a response, the connection is closed: a complete response is no longer possible.
function writeError(res: Response, reply: Reply): void {
  if (res.headersSent) {
    res.destroy()
    return
  }
  // Another handler may have set these for a body that was never sent.
  for (const name of ['Content-Encoding', 'ETag', 'Last-Modified']) res.removeHeader(name)
  try {
    write(res, reply)
  } catch {
    // A common header with an invalid value.
    write(res, FALLBACK_REPLY)
  }
}

/**
 * Writes a response; Node omits the body of a HEAD. Headers and a text body go out in one call: separately set headers
 * and a body of bytes both take slower paths in Node.
 */
function write(res: ServerResponse, { status, headers, text, parts, commonHeaders }: Reply): Promise<void> | undefined {
  res.writeHead(status, { ...commonHeaders, ...headers })
  if (parts !== undefined) return writeParts(res, parts)
  end(res, text)
  return undefined
}

/** Writes each part when the client has read those before it. */
async function writeParts(res: ServerResponse, parts: Parts): Promise<void> {
  const iterator = parts[Symbol.asyncIterator]()
  let goOn: (() => void) | undefined
  const stop = () => {
    goOn?.()
    void iterator.return?.()
  }
  if (res.destroyed) return stop()
  res.once('close', stop)
  for (;;) {
    const { value, done } = await iterator.next()
    if (done === true || res.destroyed) break
    if (res.write(value)) continue
    await new Promise<void>((resolve) => {
      goOn = resolve
      res.once('drain', resolve)
    })
  }
  if (!res.destroyed) end(res)
}

async function writeTrpc(res: Response, reply: Reply): Promise<void> {
  // The client disconnected before its body was complete.
  if (res.destroyed) return
  // Another handler, such as that of CORS, may have set it.
  const vary = res.getHeader('vary')
  if (vary !== undefined) reply.headers.vary = `${vary}, ${reply.headers.vary}`
  await write(res, reply)
}

/** Ends a response. Closing a connection with unread request data resets it, and the client loses the response. */
function end(res: ServerResponse, text?: string): void {
  const { req } = res
  if (res.shouldKeepAlive || req.complete) {
    res.end(text)
    return
  }
  if (text === undefined) res.flushHeaders()
  else res.write(text)
  finished(req, () => res.end())
  req.resume()
}
