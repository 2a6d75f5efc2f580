import { type AnyTRPCRouter, initTRPC, type TRPCRouterRecord } from '@trpc/server'
import type { Operation } from './implement.ts'
import { Problem } from './problem.ts'

/**
 * The tRPC router of the operations. Its type for clients is `RouterOf` the contract; what is built here must be that,
 * which the tests of both see to.
 */
export function trpcRouter<Context extends object>(operations: Operation<Context>[]): AnyTRPCRouter {
  const t = initTRPC.context<Context>().create({
    isDev: false, // else error answers carry stacks
    errorFormatter: ({ shape, error }) => ({
      ...shape,
      // Errors of tRPC's own may quote what was sent; an unexpected one must tell nothing.
      message: error.code === 'INTERNAL_SERVER_ERROR' ? 'Internal server error' : shape.message,
      data: { ...shape.data, fields: error instanceof Problem ? error.fields : [] },
    }),
  })
  const record: Record<string, TRPCRouterRecord> = {}
  for (const { name, procedure, call } of operations) {
    const [noun, verb] = name.split('.') as [string, string]
    // Input passes through: `call` validates it, with the same words for every caller.
    const builder = t.procedure.meta(procedure.meta).input((input: unknown) => input)
    const run = async ({ input, ctx }: { input: unknown; ctx: Context }) =>
      procedure.output.parse(await call(input ?? {}, ctx))
    record[noun] = {
      ...record[noun],
      [verb]: procedure.type === 'query' ? builder.query(run as never) : builder.mutation(run as never),
    }
  }
  return t.router(record) as unknown as AnyTRPCRouter
}
