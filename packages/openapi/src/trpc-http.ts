import { nextTick } from 'node:process'
import { setImmediate } from 'node:timers/promises'
import { getHTTPStatusCode } from '@trpc/server/http'
import type { TRPCResponse } from '@trpc/server/rpc'
import { ApiError, toApiError } from './api-error.ts'
import type { Core, Reply, ServeOptions, Transport } from './core.ts'
import { isPromise, observe } from './hook.ts'
import type { Operation } from './implement.ts'
import { DEFAULT_BODY_LIMIT, readJsonText } from './json-body.ts'
import { checkForm } from './nesting.ts'
import type { Incoming } from './request.ts'
import { methodNotAllowed, methodOf } from './routes.ts'
import { abortApiError } from './signal.ts'
import {
  checkParameters,
  fieldApiError,
  type Parameter,
  queryParameters,
  relativePath,
  split,
  valuesOf,
} from './target.ts'
import { type CallContext, errorShape, trpcCalls } from './trpc.ts'

/** tRPC over HTTP: single calls, batches, and batches whose answers stream in (`httpBatchStreamLink`). */
export interface Trpc<Req> {
  /** Whether a request is for the endpoint. */
  takes: (req: Req) => boolean
  /** Never rejects. */
  respond: (req: Req) => Promise<Reply>
}

/** The calls of a request. */
interface Calls {
  paths: string[]
  isBatch: boolean
  isStream: boolean
  /** The JSON text of the inputs of a GET. */
  input: string | undefined
  /** The query parameters, unless they are known to be valid. */
  unchecked: readonly Parameter[]
}

/** The result of a call. */
interface Result {
  answer: TRPCResponse
  error?: ApiError
  /** The answer as JSON. Serialized per call, because serializing a whole batch at once would block too long. */
  text: string
  /** The length of the text in UTF-8. */
  bytes: number
  /** The error of `JSON.stringify`, if it failed. */
  unserializable?: unknown
}

/** The query parameters. The inputs of a POST are in its body. */
const BATCH = 'batch'
const INPUT = 'input'
const STREAM = /(?:^|,)\s*application\/jsonl\s*(?:,|$)/
const ALLOW = 'GET, HEAD, POST, OPTIONS'
// A query by POST is for an input that is too long for a URL.
const METHODS: Record<string, readonly string[]> = { query: ['GET', 'POST'], mutation: ['POST'] }

/**
 * Serves the operations to tRPC's clients. Every answer is the one that tRPC's own adapters give, but for clearer errors of
 * bodies, a 400 for query parameters that have no effect, and HEAD, which is answered as GET.
 */
export function createTrpc<Context extends object & CallContext, Req extends Incoming>(
  operations: Operation<Context>[],
  options: ServeOptions<Context, Req>,
  { readBytes, hasDisconnected }: Transport<Req>,
  { errorReply }: Pick<Core<Req>, 'errorReply'>,
): Trpc<Req> {
  const { path: base = '/trpc', bodyLimit = DEFAULT_BODY_LIMIT, maxCalls = 50, maxRecords } = options.trpc ?? {}
  const procedures = trpcCalls(operations, maxRecords)

  const pathOf = ({ originalUrl, baseUrl }: Req) => relativePath(split(originalUrl).path, baseUrl)

  const takes: Trpc<Req>['takes'] = (req) => {
    const path = pathOf(req)
    return path.startsWith(base) && (path.length === base.length || path[base.length] === '/')
  }

  /** @throws ApiError for a request without valid calls */
  const callsOf = (req: Req): Calls => {
    const target = pathOf(req)
    const path = decoded(target.slice(Math.max(target.lastIndexOf('/') + 1, base.length)))
    const isGet = methodOf(req.method) === 'GET'
    const { isBatch, input, unchecked } = queryOf(split(req.originalUrl).rawQuery, isGet)
    if (!isGet) checkMediaType(req.headers['content-type'])
    const paths = isBatch ? path.split(',') : [path]
    if (paths.length > maxCalls) throw new ApiError(400, 'Batch call exceeds maximum size')
    const types = new Set(isBatch ? paths.flatMap((path) => procedures.get(path)?.type ?? []) : [])
    if (types.size > 1) throw new ApiError(400, `Cannot mix procedure types in call: ${[...types].join(', ')}`)
    const { accept, 'trpc-accept': trpcAccept = accept } = req.headers
    const isStream = trpcAccept !== undefined && STREAM.test(String(trpcAccept))
    if (isStream && !isBatch) throw new ApiError(400, 'Streaming requests must be batched (you can do a batch of 1)')
    return { paths, isBatch, isStream, input, unchecked }
  }

  /** The input of each call; undefined for a call without one. */
  const inputsOf = async (req: Req, { paths, isBatch, input, unchecked }: Calls): Promise<unknown[]> => {
    const isGet = methodOf(req.method) === 'GET'
    if (unchecked.length > 0) {
      checkParameters(unchecked, isGet ? [BATCH, INPUT] : [BATCH])
      if (valuesOf(unchecked, BATCH).some((value) => value !== '1')) throw fieldApiError(BATCH, 'must be 1')
      valuesOf(unchecked, INPUT)
    }
    const isParsed = typeof req.body === 'object' && !(req.body instanceof Uint8Array)
    const text = isGet ? input : isParsed ? '' : await readJsonText(req.headers, () => readBytes(req, bodyLimit))
    let inputs: unknown = isParsed ? req.body : undefined
    if (text) {
      checkForm(text)
      try {
        inputs = JSON.parse(text)
      } catch (cause) {
        throw new ApiError(400, 'Input is not valid JSON', { cause })
      }
    }
    if (!isBatch) return [inputs]
    if (inputs === undefined) return []
    if (typeof inputs !== 'object' || inputs === null || Array.isArray(inputs)) {
      throw new ApiError(400, '"input" needs to be an object when doing a batch call')
    }
    return paths.map((_, index) => (inputs as Record<number, unknown>)[index])
  }

  const respond = async (req: Req): Promise<Reply> => {
    const method = methodOf(req.method)
    let context: Context | undefined

    const failed = async (cause: unknown, path?: string): Promise<Result> => {
      const error = abortApiError(cause, hasDisconnected(req)) ?? toApiError(cause)
      await observe(() => options.onError?.(error, req))
      const answer = { error: errorShape(error, path, context?.requestId) }
      return { answer, error, ...serialized(answer) }
    }
    const send = async (results: Result[], isBatch: boolean, make = replyOf): Promise<Reply> => {
      // An output that cannot be serialized gives one error for all calls.
      const broken = results.find((result) => 'unserializable' in result)
      if (broken !== undefined) return send([await failed(broken.unserializable)], false)
      try {
        const made = options.headers?.(req)
        const commonHeaders = isPromise(made) ? await made : made
        return { ...make(results, isBatch), commonHeaders }
      } catch (cause) {
        return replyOf(await Promise.all(results.map(() => failed(cause))), isBatch)
      }
    }

    if (method === 'OPTIONS')
      return send([], false, () => ({ status: 204, headers: { Allow: ALLOW }, text: undefined }))
    if (method !== 'GET' && method !== 'POST') return errorReply(methodNotAllowed(method, ALLOW), req)
    let calls: Calls
    try {
      calls = callsOf(req)
    } catch (cause) {
      return send([await failed(cause)], false)
    }
    const { paths, isBatch, isStream } = calls
    const methodsOf = (path: string) => METHODS[procedures.get(path)?.type ?? '']
    let inputs: unknown[] = []
    let failure: { cause: unknown } | undefined
    try {
      const made = options.context(req, paths, base)
      context = isPromise(made) ? await made : made
      if (paths.some((path) => methodsOf(path)?.includes(method))) inputs = await inputsOf(req, calls)
    } catch (cause) {
      // Before the body was complete: this is not a call.
      if (hasDisconnected(req)) return NOT_SENT
      failure = { cause }
    }
    const run = async (path: string, index: number): Promise<Result> => {
      let answer: TRPCResponse
      try {
        const procedure = procedures.get(path)
        const methods = methodsOf(path)
        if (procedure === undefined || methods === undefined) {
          throw new ApiError(404, `No procedure found on path "${path}"`)
        }
        if (!methods.includes(method)) {
          const text = `Unsupported ${method}-request to ${procedure.type} procedure at path "${path}"`
          throw new ApiError(405, text, { headers: { allow: methods.join(', ') } })
        }
        if (failure !== undefined) throw failure.cause
        answer = { result: { data: await procedure.run(inputs[index], context as Context) } }
      } catch (cause) {
        return failed(cause, path)
      }
      try {
        return { answer, ...serialized(answer) }
      } catch (cause) {
        // Not thrown: while other calls are awaited, the rejection would be unhandled.
        return isStream ? failed(cause, path) : { answer, text: '', bytes: 0, unserializable: cause }
      }
    }
    const refused = paths.map(methodsOf).find((methods) => methods?.includes(method) === false)
    if (!isBatch) return send([await run(paths[0] as string, 0)], isBatch)
    const running: Promise<Result>[] = []
    const yieldIfDue = yielder(options.turn && (() => options.turn?.(req)))
    for (const [index, path] of paths.entries()) {
      // Nobody would get the answers.
      if (hasDisconnected(req) && procedures.get(path)?.type === 'query') return NOT_SENT
      running.push(run(path, index))
      // What a call does at once, such as a read on SQLite, is done before the next one begins.
      await new Promise<void>((done) => nextTick(done))
      await yieldIfDue()
    }
    return isStream
      ? send([], isBatch, () => streamOf(running, refused && { allow: refused.join(', ') }))
      : send(await Promise.all(running), isBatch)
  }

  return { takes, respond }
}

const ORDINARY = /^(batch=1&)?input=([^&+]*)$/

/** Reads a query string. To read the ordinary one takes a fraction of the time, and it needs no check. */
function queryOf(rawQuery: string, isGet: boolean): Pick<Calls, 'isBatch' | 'input' | 'unchecked'> {
  const [, batch, text] = (isGet && ORDINARY.exec(rawQuery)) || []
  if (text !== undefined) {
    try {
      return { isBatch: batch !== undefined, input: decodeURIComponent(text), unchecked: [] }
    } catch {
      // Below, it is refused.
    }
  }
  const unchecked = queryParameters(rawQuery)
  const isBatch = unchecked.some(([name, value]) => name === BATCH && value === '1')
  return { isBatch, input: unchecked.find(([name]) => name === INPUT)?.[1], unchecked }
}

function decoded(path: string): string {
  if (!path.includes('%')) return path
  try {
    return decodeURIComponent(path)
  } catch (cause) {
    throw new ApiError(400, `Invalid URL-encoding in path "${path}"`, { cause })
  }
}

function checkMediaType(type: string | undefined): void {
  if (type?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json') return
  const message = type === undefined ? 'Missing content-type header' : `Unsupported content-type "${type}`
  throw new ApiError(415, message)
}

function replyOf(results: Result[], isBatch: boolean): Reply {
  const errors = results.flatMap(({ error }) => error ?? [])
  const status = errors.length > 0 ? getHTTPStatusCode(results.map(({ answer }) => answer)) : 200
  const more = errors.length > 0 ? Object.assign({}, ...errors.map(({ headers }) => headers)) : undefined
  const texts = results.map(({ text }) => text)
  const pieces = isBatch ? texts.map((text, index) => `${index === 0 ? '[' : ','}${text}`).concat(']') : texts
  // A bracket or comma before each answer of a batch, and one at the end.
  const length = results.reduce((sum, { bytes }) => sum + bytes, isBatch ? results.length + 1 : 0)
  const headers = { ...HEADERS, ...more, 'content-length': length }
  if (length >= LARGE_RESPONSE_BYTES) return { status, headers, text: undefined, parts: inTurn(pieces) }
  return { status, headers, text: pieces.length === 1 ? (pieces[0] as string) : pieces.join('') }
}

function serialized(answer: TRPCResponse): Pick<Result, 'text' | 'bytes'> {
  const text = JSON.stringify(answer)
  return { text, bytes: Buffer.byteLength(text) }
}

/**
 * Answers in the order in which the calls end, in the format of tRPC's `httpBatchStreamLink`: a line with a promise for each
 * call, then a line for each promise that is fulfilled.
 */
function streamOf(running: Promise<Result>[], more: Record<string, string> = {}): Reply {
  const head = Object.fromEntries(running.map((_, index) => [index, [[0], [null, 0, index]]]))
  const lines = running.map(async (result, index) => ({ index, line: `[${index},0,[[${(await result).text}]]]\n` }))
  const parts = async function* () {
    yield `${JSON.stringify(head)}\n`
    const waiting = new Map(lines.entries())
    while (waiting.size > 0) {
      const { index, line } = await Promise.race(waiting.values())
      waiting.delete(index)
      yield line
    }
  }
  return { status: 200, headers: { ...HEADERS, ...more }, text: undefined, parts: parts() }
}

/** For a client that has disconnected. */
const NOT_SENT: Reply = { status: 499, headers: {}, text: undefined }
const HEADERS = { 'content-type': 'application/json', vary: 'trpc-accept, accept' }

// Long batches and large responses yield to the event loop, so that other requests are served in between.
const MAX_BLOCKING_MS = 2
const LARGE_RESPONSE_BYTES = 256 * 1024

/**
 * Returns a function for use in long loops: if the loop has blocked the event loop for too long, it waits for another turn.
 *
 * @param turn resolves when the loop may go on; by default in the next turn of the event loop
 */
function yielder(turn: () => Promise<void> | undefined = setImmediate): () => Promise<void> | undefined {
  let startMs = performance.now()
  return () => {
    if (performance.now() - startMs < MAX_BLOCKING_MS) return undefined
    return Promise.resolve(turn()).then(() => {
      startMs = performance.now()
    })
  }
}

async function* inTurn(pieces: string[]): AsyncGenerator<string> {
  const yieldIfDue = yielder()
  for (const piece of pieces) {
    yield piece
    await yieldIfDue()
  }
}
