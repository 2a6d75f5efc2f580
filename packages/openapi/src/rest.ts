import type { ServerResponse } from 'node:http'
import { finished } from 'node:stream'
import type { Request, RequestHandler, Response } from 'express'
import type { ApiError } from './api-error.ts'
import { readBytes } from './body.ts'
import type { Contract } from './contract.ts'
import {
  type Core,
  createCore,
  LAST_RESORT,
  type Located,
  type Reply,
  type RestOptions,
  type Transport,
} from './core.ts'
import type { Operation } from './implement.ts'
import { hasGone } from './signal.ts'

export interface Rest {
  /** Answers each request whose path stands in the contract, and passes the others on: mount it first. */
  handle: RequestHandler
  /** Answers each request that nothing took, with a 404: mount it last. */
  refuse: RequestHandler
  /** Answers a request with an error, in the form of the binding its path belongs to. */
  fail: (error: unknown, req: Request, res: Response) => Promise<void>
  /**
   * Makes the answers of an error that is the same for every request, so that giving one costs little: they do not say
   * what was asked for, and `onError` is not told. They can be given before Express has begun with a request.
   */
  ready: (problem: ApiError) => (req: Request, res: ServerResponse) => Promise<void>
}

/** The REST surface of a contract whose operations are implemented, for Express. */
export function rest<Context>(
  contract: Contract,
  operations: Operation<Context>[],
  options: RestOptions<Context, Request>,
): Rest {
  return toExpress(createCore(contract, operations, options, EXPRESS))
}

/** How Express's requests are read. */
export const EXPRESS: Transport<Request> = { readBytes, hasGone }

/** A core as handlers of Express. */
export function toExpress(core: Core<Request>): Rest {
  // Where the handler is mounted, for the requests that it passed on: those behind it may stand elsewhere.
  const bases = new WeakMap<Request, string>()

  const handle: RequestHandler = (req, res, next) => {
    const located = core.find(req)
    if (located !== undefined || (req.method === 'OPTIONS' && req.originalUrl === '*'))
      return respond(req, res, located)
    if (req.baseUrl !== '') bases.set(req, req.baseUrl)
    return next()
  }

  const respond = async (req: Request, res: Response, located: Located | undefined): Promise<void> => {
    const reply = await core.respond(req, located)
    try {
      write(res, reply)
    } catch (error) {
      await fail(error, req, res)
    }
  }

  const refuse: RequestHandler = async (req, res) => writeError(res, await core.refuse(req, bases.get(req)))

  const fail: Rest['fail'] = async (error, req, res) => writeError(res, await core.fail(error, req, bases.get(req)))

  const ready: Rest['ready'] = (problem) => {
    const reply = core.ready(problem)
    return async (req, res) => write(res, await reply(req, req.url))
  }

  return { handle, refuse, fail, ready }
}

// Another handler may have begun with an answer.
function writeError(res: Response, reply: Reply): void {
  if (res.headersSent) {
    res.destroy()
    return
  }
  // It may have said them of a body that did not come.
  for (const name of ['Content-Encoding', 'ETag', 'Last-Modified']) res.removeHeader(name)
  try {
    write(res, reply)
  } catch {
    // A header that every answer carries and none can.
    write(res, LAST_RESORT)
  }
}

/**
 * Writes an answer; Node leaves the body out where the request was a HEAD. It is one text in one go: a header set
 * beforehand, and a body of bytes, each cost Node a way of their own.
 */
function write(res: ServerResponse, { status, headers, text, everywhere }: Reply): void {
  end(res.writeHead(status, { ...everywhere, ...headers }), text)
}

// A connection closed with some of the request unread is reset, and the answer lost with it.
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
