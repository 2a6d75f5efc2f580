import type { IncomingHttpHeaders } from 'node:http'
import { type AnyTRPCRouter, initTRPC, type TRPCError, type TRPCRouterRecord } from '@trpc/server'
import { ApiError } from './api-error.ts'
import type { HeaderSource } from './bindings.ts'
import type { Operation } from './implement.ts'
import { takeHeaders } from './request.ts'

/** What the router itself reads of a context. */
export interface CallContext {
  /** Of the HTTP request, where the call is the only one it carries: their fields fill what the input leaves out. */
  headers?: IncomingHttpHeaders | undefined
  /** Text that identifies the request in the log; an unexpected error carries it. */
  requestId?: string | undefined
}

/** A procedure as tRPC calls it. */
export interface TrpcCall<Context> {
  type: 'query' | 'mutation'
  /** @throws whatever was thrown, for tRPC's adapters to make a TRPCError of */
  run: (input: unknown, context: Context) => Promise<unknown>
}

/**
 * The procedures of the operations, by their paths: `users.get`.
 *
 * @param mostRecords how many records the mutations of one request, which share a context, may bring in lists together:
 * what is too much for one call must not come in by many
 */
export function trpcCalls<Context extends object & CallContext>(
  operations: Operation<Context>[],
  mostRecords: number,
): Map<string, TrpcCall<Context>> {
  const admit = recordCounter(mostRecords)
  return new Map(
    operations.map(({ name, procedure, headers, call }) => {
      const run = async (input: unknown, context: Context) => {
        if (procedure.type === 'mutation') admit(context, input)
        return procedure.output.parse(await call(withHeaders(input ?? {}, headers, context?.headers), context))
      }
      return [name, { type: procedure.type, run }]
    }),
  )
}

// What one call brings is for its own schema to judge.
function recordCounter(most: number): (context: object, input: unknown) => void {
  const brought = new WeakMap<object, number>()
  return (context, input) => {
    const records = recordsOf(input)
    if (records === 0) return
    const before = brought.get(context) ?? 0
    if (before > 0 && before + records > most) {
      throw new ApiError(400, `The calls of one batch bring at most ${most} records together; send this one by itself`)
    }
    brought.set(context, before + records)
  }
}

function recordsOf(input: unknown): number {
  if (typeof input !== 'object' || input === null) return 0
  let records = 0
  for (const value of Object.values(input)) {
    // A list of anything else, such as versions, is short.
    if (Array.isArray(value) && typeof value[0] === 'object') records += value.length
  }
  return records
}

/**
 * The tRPC router of the operations. Its type for clients is `RouterOf` the contract; what is built here must be that,
 * which the tests of both see to.
 *
 * @param mostRecords as of {@link trpcCalls}
 */
export function trpcRouter<Context extends object & CallContext>(
  operations: Operation<Context>[],
  mostRecords = Number.POSITIVE_INFINITY,
): AnyTRPCRouter {
  const t = initTRPC.context<Context>().create({
    isDev: false, // else error answers carry stacks
    errorFormatter: ({ shape, error, ctx }) => ({
      ...shape,
      message: wordsOf(error, (ctx as CallContext | undefined)?.requestId),
      data: {
        ...shape.data,
        fields: error instanceof ApiError ? error.fields : [],
        ...(error instanceof ApiError && error.data !== undefined && { errorData: error.data }),
      },
    }),
  })
  const calls = trpcCalls(operations, mostRecords)
  const record: Record<string, TRPCRouterRecord> = {}
  for (const { name, procedure } of operations) {
    const [noun, verb] = name.split('.') as [string, string]
    const { type, run } = calls.get(name) as TrpcCall<Context>
    // Input passes through: the operation validates it, with the same words for every caller.
    const builder = t.procedure.meta(procedure.meta).input((input: unknown) => input)
    const resolve = ({ input, ctx }: { input: unknown; ctx: Context }) => run(input, ctx)
    record[noun] = {
      ...record[noun],
      [verb]: type === 'query' ? builder.query(resolve as never) : builder.mutation(resolve as never),
    }
  }
  return t.router(record) as unknown as AnyTRPCRouter
}

// The input's own fields win; what is no object is left for validation to refuse.
function withHeaders(input: unknown, sources: HeaderSource[], headers: CallContext['headers']): unknown {
  if (headers === undefined || typeof input !== 'object' || Array.isArray(input)) return input
  const fields = {}
  takeHeaders(sources, headers, fields)
  return { ...fields, ...input }
}

function wordsOf(error: TRPCError, requestId?: string): string {
  if (error.code === 'INTERNAL_SERVER_ERROR') {
    return requestId === undefined ? 'Internal server error' : `Internal server error (request ${requestId})`
  }
  // The JSON parser's own words quote the input.
  const isParsing = error.cause instanceof SyntaxError && !(error instanceof ApiError)
  return isParsing ? 'Input is not valid JSON' : error.message
}
