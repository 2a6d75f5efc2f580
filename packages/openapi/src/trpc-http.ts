import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { getTRPCErrorFromUnknown, getTRPCErrorShape, type TRPCError } from '@trpc/server'
import { getHTTPStatusCode } from '@trpc/server/http'
import type { TRPCResponse } from '@trpc/server/rpc'
import type { Request, RequestHandler, Response } from 'express'
import { ApiError } from './api-error.ts'
import { readBytes } from './body.ts'
import { type Awaitable, isPromise, observe } from './hook.ts'
import type { Operation } from './implement.ts'
import { checkDepth } from './request.ts'
import { end } from './rest.ts'
import { abortApiError, hasDisconnected } from './signal.ts'
import { type CallContext, type TrpcCall, trpcCalls, trpcRouter } from './trpc.ts'
import { plainRequest, readInputs } from './trpc-request.ts'

export interface TrpcOptions<Context> {
  /**
   * Creates the context. An error that it throws or rejects with becomes the response of each call. Returning a value
   * instead of a promise is faster.
   *
   * @param procedures the procedure path of each call in the request, as sent: `users.get`
   */
  context: (req: Request, procedures: readonly string[]) => Awaitable<Context>
  /** Headers of every response. An error that it throws or rejects with becomes the response of each call. */
  headers?: (req: Request) => Awaitable<Record<string, string>>
  /** Called with each error of a call. An error that it throws or rejects with becomes a process warning. */
  onError?: (error: TRPCError, req: Request) => Awaitable<void>
  /** The path of the endpoint: `/trpc`. */
  path: string
  /** The largest request body, in bytes. */
  bodyLimit: number
  /** The maximum number of calls in one request. */
  maxCalls: number
  /** The maximum number of records in lists in all mutations of one request. */
  maxRecords: number
}

export interface Trpc {
  /**
   * A fast path for ordinary JSON calls of tRPC clients. It responds as `complete` does, but without creating fetch
   * `Request` and `Response` objects, and passes all other requests on. Mount it without a path, which avoids the cost of
   * routing.
   */
  plain: RequestHandler
  /** tRPC's own adapter, for all requests to its mount path, including streams and malformed ones. It ignores `headers`. */
  complete: RequestHandler
}

/** The tRPC handlers of the operations for Express. */
export function trpc<Context extends object & CallContext>(
  operations: Operation<Context>[],
  options: TrpcOptions<Context>,
): Trpc {
  const router = trpcRouter(operations, options.maxRecords)
  const config = router._def._config
  const calls = trpcCalls(operations, options.maxRecords)

  const typeOf = (path: string) => calls.get(path)?.type

  const plain: RequestHandler = async (req, res, next) => {
    const request = plainRequest(req, typeOf, options)
    if (request === undefined) return next()
    const type = req.method === 'GET' ? 'query' : 'mutation'
    let context: Context | undefined
    const failedCall = async (cause: unknown, call: { path?: string; input?: unknown }): Promise<CallResult> => {
      const error = abortApiError(cause, hasDisconnected(req)) ?? getTRPCErrorFromUnknown(cause)
      await observe(() => options.onError?.(error, req))
      const shape = getTRPCErrorShape({ path: undefined, input: undefined, type, ...call, error, ctx: context, config })
      return { error, answer: { error: shape }, text: JSON.stringify({ error: shape }) }
    }
    const failAll = (cause: unknown) => Promise.all(request.paths.map((path) => failedCall(cause, { path })))
    const send = async (results: CallResult[]): Promise<void> => {
      let headers: Record<string, string> | undefined
      try {
        const made = options.headers?.(req)
        headers = isPromise(made) ? await made : made
      } catch (cause) {
        return write(res, await failAll(cause), request.isBatch)
      }
      // An output that cannot be serialized gives one error for all calls.
      const unserializable = results.find((one) => 'serializeError' in one)
      if (unserializable === undefined) return write(res, results, request.isBatch, headers)
      return write(res, [await failedCall(unserializable.serializeError, {})], false, headers)
    }
    const run = async (path: string, input: unknown, context: Context): Promise<CallResult> => {
      const call = calls.get(path) as TrpcCall<Context>
      let answer: TRPCResponse
      try {
        answer = { result: { data: await call.run(input, context) } }
      } catch (cause) {
        return failedCall(cause, { path, input })
      }
      try {
        return { answer, text: JSON.stringify(answer) }
      } catch (cause) {
        // Not thrown: while other calls are awaited, the rejection would be unhandled.
        return { answer, text: '', serializeError: cause }
      }
    }
    let known: Context
    let inputs: unknown[] | undefined
    try {
      const made = options.context(req, request.paths)
      context = known = isPromise(made) ? await made : made
      inputs = await readInputs(req, request, options.bodyLimit)
    } catch (cause) {
      // The client disconnected before the body was complete.
      if (res.destroyed) return
      return send(await failAll(cause))
    }
    if (inputs === undefined) return next()
    if (!request.isBatch) return send([await run(request.paths[0] as string, inputs[0], known)])
    const running: Promise<CallResult>[] = []
    const yieldIfDue = yielder()
    for (const [index, path] of request.paths.entries()) {
      running.push(run(path, inputs[index], known))
      await yieldIfDue()
    }
    await send(await Promise.all(running))
  }

  // Loaded on first use, because it loads Node's fetch implementation, which takes 13 MB of memory.
  const loadAdapter = async () => {
    const { createExpressMiddleware } = await import('@trpc/server/adapters/express')
    return createExpressMiddleware({
      router,
      maxBodySize: options.bodyLimit,
      maxBatchSize: options.maxCalls,
      // Allows queries by POST, for inputs that are too long for a URL.
      allowMethodOverride: true,
      createContext: async ({ req, info }) => {
        const paths = info.calls.map(({ path }) => path)
        const context = await options.context(req, paths)
        if (req.body instanceof LateBody && paths.some(typeOf)) await req.body.arrive()
        return context
      },
      responseMeta: ({ errors }) => ({ headers: headersOf(errors) }),
      // Not awaited, because tRPC ignores a returned promise.
      onError: ({ error, req }) =>
        void observe(() => options.onError?.(abortApiError(error, hasDisconnected(req)) ?? error, req)),
    })
  }
  let adapter: ReturnType<typeof loadAdapter> | undefined
  const complete: RequestHandler = async (req, res, next) => {
    // A failure is not kept: the next request tries again.
    adapter ??= loadAdapter().catch((error: unknown) => {
      adapter = undefined
      throw error
    })
    const handle = await adapter
    // The adapter would serialize bytes from another handler as JSON.
    if (req.body instanceof Uint8Array) req.body = new TextDecoder().decode(req.body)
    if (req.body === undefined && req.method === 'POST') req.body = new LateBody(req, options.bodyLimit)
    handle(req, res, next)
  }

  return { plain, complete }
}

/** A body that tRPC's adapter sees once it has arrived: it is read after the context was created, and checked. */
class LateBody extends IncomingMessage {
  readonly #req: Request
  readonly #limit: number

  constructor(req: Request, limit: number) {
    // Not the socket of the request: the adapter may destroy a body.
    super(new Socket())
    this.#req = req
    this.#limit = limit
  }

  /** @throws ApiError 413 over the limit, 400 if the body is incomplete or nested too deeply */
  async arrive(): Promise<void> {
    const bytes = await readBytes(this.#req, this.#limit)
    if (this.#req.headers['content-type']?.startsWith('application/json')) checkDepth(new TextDecoder().decode(bytes))
    this.push(bytes)
    this.push(null)
  }
}

// Long batches and large responses yield to the event loop, so that other requests are served in between.
const MAX_BLOCKING_MS = 2
const LARGE_RESPONSE_BYTES = 256 * 1024

/** Returns a function for use in long loops: it yields to the event loop if the loop has blocked it for too long. */
function yielder(): () => Promise<void> | undefined {
  let startMs = performance.now()
  return () => {
    if (performance.now() - startMs < MAX_BLOCKING_MS) return undefined
    return setImmediate().then(() => {
      startMs = performance.now()
    })
  }
}

/** The result of a call. */
interface CallResult {
  answer: TRPCResponse
  error?: TRPCError
  /** The answer as JSON. Serialized per call, because serializing a whole batch at once would block too long. */
  text: string
  /** The error of `JSON.stringify`, if it failed. */
  serializeError?: unknown
}

async function write(
  res: Response,
  settled: CallResult[],
  isBatch: boolean,
  headers?: Record<string, string>,
): Promise<void> {
  const pieces: string[] = []
  let hasErrors = false
  let length = 0
  for (const { text, error } of settled) {
    const piece = isBatch ? `${pieces.length === 0 ? '[' : ','}${text}` : text
    pieces.push(piece)
    length += Buffer.byteLength(piece)
    hasErrors ||= error !== undefined
  }
  if (isBatch) {
    pieces.push(']')
    length++
  }
  // CORS sets it.
  const vary = res.getHeader('vary')
  res.writeHead(hasErrors ? getHTTPStatusCode(settled.map(({ answer }) => answer)) : 200, {
    ...headers,
    ...(hasErrors && headersOf(settled.flatMap(({ error }) => error ?? []))),
    'content-type': 'application/json',
    vary: vary === undefined ? 'trpc-accept, accept' : `${vary}, trpc-accept, accept`,
    'content-length': length,
  })
  if (length < LARGE_RESPONSE_BYTES) {
    end(res, pieces.join(''))
    return
  }
  const yieldIfDue = yielder()
  for (const piece of pieces) {
    // The client may have disconnected meanwhile.
    if (res.destroyed) return
    res.write(piece)
    await yieldIfDue()
  }
  end(res)
}

// The headers of ApiErrors, such as Retry-After.
function headersOf(errors: TRPCError[]): Record<string, string> {
  return Object.assign({}, ...errors.map((error) => (error instanceof ApiError ? error.headers : {})))
}
