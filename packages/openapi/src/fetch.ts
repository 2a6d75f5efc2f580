import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from './api-error.ts'
import { tooLarge } from './body.ts'
import type { Contract, Parts } from './contract.ts'
import { type Core, createCore, FALLBACK_REPLY, type Reply, type ServeOptions, type Transport } from './core.ts'
import type { Operation } from './implement.ts'
import type { ReadBytes } from './json-body.ts'
import type { Incoming } from './request.ts'
import type { CallContext } from './trpc.ts'
import { createTrpc, type Trpc } from './trpc-http.ts'

export interface FetchOptions<Context> extends ServeOptions<Context, Request> {
  /** The path under which the contract is served: `/api`. */
  prefix?: `/${string}`
}

/**
 * The REST handler of a contract as a function from `Request` to `Response`, for Hono, Next.js, Deno, Bun and workers. It
 * responds to every request; a path that is not in the contract gets a 404.
 */
export function fetchHandler<Context extends object & CallContext>(
  contract: Contract,
  operations: Operation<Context>[],
  options: FetchOptions<Context>,
): (request: Request) => Promise<Response> {
  const { context, requestId, headers, onError, prefix, envelope, trpc, turn } = options
  const adapted: ServeOptions<Context, FetchRequest> = {
    envelope,
    ...(trpc && { trpc }),
    context: ({ request }, procedures, route) => context(request, procedures, route),
    ...(requestId && { requestId: ({ request }) => requestId(request) }),
    ...(headers && { headers: ({ request }) => headers(request) }),
    ...(onError && { onError: (error, { request }) => onError(error, request) }),
    ...(turn && { turn: ({ request }) => turn(request) }),
  }
  const core = createCore(contract, operations, adapted, FETCH)
  return toFetch(core, prefix, trpc && createTrpc(operations, adapted, FETCH, core))
}

/** A core as a function from `Request` to `Response`. */
export function toFetch(
  core: Core<FetchRequest>,
  prefix = '',
  trpc?: Trpc<FetchRequest>,
): (request: Request) => Promise<Response> {
  // Percent-encoded, like the URLs of requests.
  const base = prefix && new URL(prefix, 'http://localhost').pathname.replace(/\/$/, '')
  return async (request) => {
    const req = new FetchRequest(request, base)
    const respond = req.isInside() ? (core.find(req) ?? (trpc?.takes(req) && (() => trpc.respond(req)))) : undefined
    const reply = await (respond ? respond() : core.notFound(req))
    try {
      return toResponse(request, reply)
    } catch (error) {
      // A common header with an invalid value.
      await core.errorReply(error, req)
      return toResponse(request, FALLBACK_REPLY)
    }
  }
}

/** Adapts a fetch `Request` for the core. */
export class FetchRequest implements Incoming {
  readonly request: Request
  readonly baseUrl: string
  readonly headers: IncomingHttpHeaders

  constructor(request: Request, baseUrl: string) {
    this.request = request
    this.baseUrl = baseUrl
    this.headers = Object.fromEntries(request.headers)
  }

  get method(): string {
    return this.request.method
  }

  // A request target, which no client sends with a fragment.
  get originalUrl(): string {
    return this.request.url.split('#', 1)[0] as string
  }

  isInside(): boolean {
    if (this.baseUrl === '') return true
    const { pathname } = new URL(this.request.url)
    return pathname === this.baseUrl || pathname.startsWith(`${this.baseUrl}/`)
  }
}

const readBytes: ReadBytes<FetchRequest> = async ({ request }, limit) => {
  if (Number(request.headers.get('content-length')) > limit) throw tooLarge(limit)
  if (request.bodyUsed) throw new Error('The body has already been read: pass the handler a clone of the request')
  const reader = request.body?.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (let chunk = await next(reader); chunk !== undefined; chunk = await next(reader)) {
    size += chunk.byteLength
    if (size > limit) {
      // Not awaited: on some platforms it settles only when the client has finished.
      reader?.cancel().catch(() => undefined)
      throw tooLarge(limit)
    }
    chunks.push(chunk)
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks)
}

/** Reads fetch requests. */
export const FETCH: Transport<FetchRequest> = {
  readBytes,
  hasDisconnected: ({ request }) => request.signal.aborted,
}

async function next(reader: ReadableStreamDefaultReader<Uint8Array> | undefined): Promise<Uint8Array | undefined> {
  try {
    return (await reader?.read())?.value
  } catch (cause) {
    throw new ApiError(400, 'Body is incomplete', { cause })
  }
}

function toResponse({ method }: Request, { status, headers, text, parts, commonHeaders }: Reply): Response {
  const body = method === 'HEAD' ? null : parts === undefined ? (text ?? null) : streamOf(parts)
  const all = Object.entries({ ...commonHeaders, ...headers }).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, `${one}`]),
  )
  return new Response(body, { status, headers: all })
}

function streamOf(parts: Parts): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const iterator = parts[Symbol.asyncIterator]()
  return new ReadableStream({
    pull: async (controller) => {
      const { value, done } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value)
    },
    cancel: async () => void (await iterator.return?.()),
  })
}
