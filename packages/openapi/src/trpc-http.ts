import { setImmediate } from 'node:timers/promises'
import { getTRPCErrorFromUnknown, getTRPCErrorShape, type TRPCError } from '@trpc/server'
import { getHTTPStatusCode } from '@trpc/server/http'
import type { TRPCResponse } from '@trpc/server/rpc'
import type { Request, RequestHandler, Response } from 'express'
import { ApiError } from './api-error.ts'
import { type Awaitable, isPromise, observe } from './hook.ts'
import type { Operation } from './implement.ts'
import { abortApiError, hasGone } from './signal.ts'
import { type CallContext, type TrpcCall, trpcCalls, trpcRouter } from './trpc.ts'
import { plainRequest, readInputs } from './trpc-request.ts'

export interface TrpcOptions<Context> {
  /**
   * What it throws or rejects with is the answer of each call. What is at hand is better given than promised: that is
   * faster.
   *
   * @param procedures `users.get` of each call the request carries, or what stands in its place
   */
  context: (req: Request, procedures: readonly string[]) => Awaitable<Context>
  /** Headers that every answer carries. What it throws or rejects with is the answer of each call, without them. */
  headers?: (req: Request) => Awaitable<Record<string, string>>
  /** Told of each error of a call. What it throws or rejects with becomes a warning of the process. */
  onError?: (error: TRPCError, req: Request) => Awaitable<void>
  /** Where the endpoint is: `/trpc`. */
  path: string
  /** Largest request body in bytes. */
  bodyLimit: number
  /** Most calls in one request. */
  mostCalls: number
  /** Most records that the mutations of one request bring in lists together. */
  mostRecords: number
}

export interface Trpc {
  /**
   * Answers the calls of tRPC's clients in their plain form, JSON in and out, as `complete` would but without making a
   * Request and a Response of the fetch standard; passes every other request on. Mount it without a path, for routers
   * take long to find one.
   */
  plain: RequestHandler
  /** tRPC's own adapter: it answers whatever comes to the path it is mounted at, streams and malformed requests too, without `headers`. */
  complete: RequestHandler
}

/** The tRPC endpoint of the operations. */
export function trpc<Context extends object & CallContext>(
  operations: Operation<Context>[],
  options: TrpcOptions<Context>,
): Trpc {
  const router = trpcRouter(operations, options.mostRecords)
  const config = router._def._config
  const calls = trpcCalls(operations, options.mostRecords)

  const typeOf = (path: string) => calls.get(path)?.type

  const plain: RequestHandler = async (req, res, next) => {
    const request = plainRequest(req, typeOf, options)
    if (request === undefined) return next()
    const type = req.method === 'GET' ? 'query' : 'mutation'
    let context: Context | undefined
    const refused = async (cause: unknown, call: { path?: string; input?: unknown }): Promise<Settled> => {
      const error = abortApiError(cause, hasGone(req)) ?? getTRPCErrorFromUnknown(cause)
      await observe(() => options.onError?.(error, req))
      const shape = getTRPCErrorShape({ path: undefined, input: undefined, type, ...call, error, ctx: context, config })
      return { error, answer: { error: shape }, text: JSON.stringify({ error: shape }) }
    }
    const refuseAll = (cause: unknown) => Promise.all(request.paths.map((path) => refused(cause, { path })))
    const send = async (settled: Settled[]): Promise<void> => {
      let headers: Record<string, string> | undefined
      try {
        const made = options.headers?.(req)
        headers = isPromise(made) ? await made : made
      } catch (cause) {
        return write(res, await refuseAll(cause), request.isBatch)
      }
      // An output that JSON cannot say: one error for all calls.
      const unsayable = settled.find((one) => 'unsayable' in one)
      if (unsayable === undefined) return write(res, settled, request.isBatch, headers)
      return write(res, [await refused(unsayable.unsayable, {})], false, headers)
    }
    const settle = async (path: string, input: unknown, context: Context): Promise<Settled> => {
      const { run } = calls.get(path) as TrpcCall<Context>
      let answer: TRPCResponse
      try {
        answer = { result: { data: await run(input, context) } }
      } catch (cause) {
        return refused(cause, { path, input })
      }
      try {
        return { answer, text: JSON.stringify(answer) }
      } catch (cause) {
        // Not thrown: while others are awaited nobody would catch it.
        return { answer, text: '', unsayable: cause }
      }
    }
    let known: Context
    let inputs: unknown[] | undefined
    try {
      const made = options.context(req, request.paths)
      context = known = isPromise(made) ? await made : made
      inputs = await readInputs(req, request)
    } catch (cause) {
      // A body that broke off is no call, and nobody waits for its answer.
      if (res.destroyed) return
      return send(await refuseAll(cause))
    }
    if (inputs === undefined) return next()
    if (!request.isBatch) return send([await settle(request.paths[0] as string, inputs[0], known)])
    const settling: Promise<Settled>[] = []
    const pause = pauses()
    for (const [index, path] of request.paths.entries()) {
      settling.push(settle(path, inputs[index], known))
      await pause()
    }
    await send(await Promise.all(settling))
  }

  // Loaded for the first who needs it: with it comes all that Node has for the fetch standard, 13 MB.
  const loadAdapter = async () => {
    const { createExpressMiddleware } = await import('@trpc/server/adapters/express')
    return createExpressMiddleware({
      router,
      maxBodySize: options.bodyLimit,
      maxBatchSize: options.mostCalls,
      // A query whose input is too long for a URL comes by POST.
      allowMethodOverride: true,
      createContext: ({ req, info }) =>
        options.context(
          req,
          info.calls.map(({ path }) => path),
        ),
      responseMeta: ({ errors }) => ({ headers: headersOf(errors) }),
      // Not awaited: tRPC waits for no promise of it.
      onError: ({ error, req }) =>
        void observe(() => options.onError?.(abortApiError(error, hasGone(req)) ?? error, req)),
    })
  }
  let adapter: ReturnType<typeof loadAdapter> | undefined
  const complete: RequestHandler = async (req, res, next) => {
    adapter ??= loadAdapter()
    const handle = await adapter
    // Where Node's `optimizeEmptyRequests` has ended what has no body, the adapter would take it for read by others.
    if (req.readableEnded && req.body === undefined) req.body = undefined
    // Of bytes that another handler has read it would make JSON.
    if (req.body instanceof Uint8Array) req.body = new TextDecoder().decode(req.body)
    handle(req, res, next)
  }

  return { plain, complete }
}

// Calls whose input takes long to validate, and large answers: other requests are served in between.
const LONGEST_RUN_MS = 2
const LARGE = 256 * 1024

/** To be asked again and again in work that may be long: what to wait for, if anything. */
function pauses(): () => Promise<void> | undefined {
  let begun = performance.now()
  return () => {
    if (performance.now() - begun < LONGEST_RUN_MS) return undefined
    return setImmediate().then(() => {
      begun = performance.now()
    })
  }
}

/** What became of a call. */
interface Settled {
  answer: TRPCResponse
  error?: TRPCError
  /** The answer as JSON, made when the call ended: that of a whole batch would take long. */
  text: string
  /** Why JSON cannot say the answer, where it cannot. */
  unsayable?: unknown
}

async function write(
  res: Response,
  settled: Settled[],
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
  res.writeHead(hasErrors ? getHTTPStatusCode(settled.map(({ answer }) => answer)) : 200, {
    ...headers,
    ...(hasErrors && headersOf(settled.flatMap(({ error }) => error ?? []))),
    'content-type': 'application/json',
    vary: 'trpc-accept, accept',
    'content-length': length,
  })
  if (length < LARGE) {
    res.end(pieces.join(''))
    return
  }
  const pause = pauses()
  for (const piece of pieces) {
    // Its client may have gone meanwhile.
    if (res.destroyed) return
    res.write(piece)
    await pause()
  }
  res.end()
}

// Of a ApiError: when to try again.
function headersOf(errors: TRPCError[]): Record<string, string> {
  return Object.assign({}, ...errors.map((error) => (error instanceof ApiError ? error.headers : {})))
}
