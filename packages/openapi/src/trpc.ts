import type { IncomingHttpHeaders } from 'node:http'
import { type AnyTRPCRouter, initTRPC, type TRPCError, type TRPCRouterRecord } from '@trpc/server'
import { getHTTPStatusCodeFromError } from '@trpc/server/http'
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc'
import { ApiError } from './api-error.ts'
import type { HeaderSource } from './bindings.ts'
import type { ErrorShape } from './contract.ts'
import { FieldError } from './field-error.ts'
import type { Operation } from './implement.ts'
import { takeHeaders } from './request.ts'
import { SEPARATE_REQUEST } from './separate-request.ts'

/** The properties of a context that the router reads. */
export interface CallContext {
  /** The headers of an HTTP request with a single call. They fill omitted input fields. */
  headers?: IncomingHttpHeaders | undefined
  /** The id of the request in the log. The message of an unexpected error contains it. */
  requestId?: string | undefined
  /** Whether to reject unknown fields of the input, as `Prefer: handling=strict` asks. */
  isStrict?: boolean | undefined
}

const STRICT = { isStrict: true }

/** A procedure as a function for tRPC. */
export interface TrpcCall<Context> {
  type: 'query' | 'mutation'
  /** @throws the original error, which tRPC's adapters convert to a TRPCError */
  run: (input: unknown, context: Context) => Promise<unknown>
}

/**
 * The procedures of the operations, by their paths: `users.get`.
 *
 * @param maxRecords the maximum number of records in lists in all mutations of one request, which share a context. It
 * prevents a batch from exceeding the limit of a single call. A procedure that `writesMany` counts as this number.
 */
export function trpcCalls<Context extends object & CallContext>(
  operations: Operation<Context>[],
  maxRecords = Number.POSITIVE_INFINITY,
): Map<string, TrpcCall<Context>> {
  const admit = recordCounter(maxRecords)
  return new Map(
    operations.map(({ name, procedure, headers, call }) => {
      const run = async (input: unknown, context: Context) => {
        if (procedure.type === 'mutation') admit(context, procedure.writesMany === true, input)
        const given = withHeaders(input ?? {}, headers, context?.headers)
        return procedure.output.parse(await call(given, context, context?.isStrict ? STRICT : undefined))
      }
      return [name, { type: procedure.type, run }]
    }),
  )
}

// The schema of a procedure limits a single call; this counter limits several calls together.
function recordCounter(maxRecords: number): (context: object, isOpen: boolean, input: unknown) => void {
  const counts = new WeakMap<object, number>()
  return (context, isOpen, input) => {
    const records = isOpen ? maxRecords : recordsOf(input)
    if (records === 0) return
    const before = counts.get(context) ?? 0
    if (before > 0 && before + records > maxRecords) {
      const message = isOpen
        ? 'A batch must not contain this call after another call that writes many records'
        : `A batch must contain at most ${maxRecords} records in all calls together`
      throw new ApiError(400, `${message}; send this call in a separate request`, { reason: SEPARATE_REQUEST })
    }
    counts.set(context, before + records)
  }
}

function recordsOf(input: unknown): number {
  if (typeof input !== 'object' || input === null) return 0
  let records = 0
  for (const value of Object.values(input)) {
    // Lists of other values, such as versions, are short and do not count. Any row may be invalid, also the first.
    if (!Array.isArray(value)) records += recordsOf(value)
    else if (value.some((row) => typeof row === 'object')) records += value.length
  }
  return records
}

/**
 * The tRPC router of the operations. Clients use the type `RouterOf` of the contract; tests check that the router
 * matches it.
 *
 * @param maxRecords see {@link trpcCalls}
 */
export function trpcRouter<Context extends object & CallContext>(
  operations: Operation<Context>[],
  maxRecords?: number,
): AnyTRPCRouter {
  const t = initTRPC.context<Context>().create({
    isDev: false, // in development mode, errors include stack traces
    errorFormatter: ({ error, path, ctx }) => errorShape(error, path, (ctx as CallContext | undefined)?.requestId),
  })
  const calls = trpcCalls(operations, maxRecords)
  const record: Record<string, TRPCRouterRecord> = {}
  for (const { name, procedure } of operations) {
    const [noun, verb] = name.split('.') as [string, string]
    const { type, run } = calls.get(name) as TrpcCall<Context>
    // The input passes through unchanged: the operation validates it, with the same messages as over REST.
    const builder = t.procedure.meta(procedure.meta).input((input: unknown) => input)
    const resolve = ({ input, ctx }: { input: unknown; ctx: unknown }) => run(input, ctx as Context)
    record[noun] = {
      ...record[noun],
      [verb]: type === 'query' ? builder.query(resolve) : builder.mutation(resolve),
    }
  }
  return t.router(record)
}

/** An error as tRPC's clients get it. */
export function errorShape(error: TRPCError, path: string | undefined, requestId: string | undefined): ErrorShape {
  const { code } = error
  const isApiError = error instanceof ApiError
  return {
    message: messageOf(error, requestId),
    code: TRPC_ERROR_CODES_BY_KEY[code],
    data: {
      code,
      httpStatus: isApiError ? error.status : getHTTPStatusCodeFromError(error),
      ...(path !== undefined && { path }),
      fields: isApiError ? error.fields : [],
      reason: isApiError ? error.reason : code.toLowerCase(),
      ...(isApiError && error.data !== undefined && { errorData: error.data }),
    },
  }
}

// Validation rejects an input that is not an object.
function withHeaders(input: unknown, sources: HeaderSource[], headers: CallContext['headers']): unknown {
  if (headers === undefined || typeof input !== 'object' || input === null || Array.isArray(input)) return input
  const fields: Record<string, unknown> = {}
  takeHeaders(sources, headers, fields)
  const given = input as Record<string, unknown>
  for (const { field, name } of sources) {
    // Either of two idempotency keys, ignored silently, could repeat a write.
    if (fields[field] === undefined || given[field] === undefined) continue
    if (JSON.stringify(fields[field]) === JSON.stringify(given[field])) continue
    throw new FieldError(400, [{ path: [field], message: `differs from the header ${name}: send one of them` }])
  }
  return { ...fields, ...given }
}

function messageOf(error: TRPCError, requestId?: string): string {
  if (error.code === 'INTERNAL_SERVER_ERROR') {
    return requestId === undefined ? 'Internal server error' : `Internal server error (request ${requestId})`
  }
  // The message of the JSON parser quotes the input.
  const isParsing = error.cause instanceof SyntaxError && !(error instanceof ApiError)
  return isParsing ? 'Input is not valid JSON' : error.message
}
