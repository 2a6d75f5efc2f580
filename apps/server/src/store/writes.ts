import { contract, type Implementation } from '@resource/contract'
import { readsOf } from '@resource/database'
import type { Procedure } from '@resource/openapi/contract'
import { queueKey } from '../access/caller.ts'
import type { Context, MutationContext, Services, Write } from './context.ts'
import { type Target, writeOnce } from './idempotency.ts'
import { refuseDelete } from './versioned.ts'

type Run<C extends Context = Context> = (input: object, context: C, shown?: readonly string[]) => Promise<unknown>

/**
 * Adds `write` to the context of each mutation, bound to the procedure's name, its input and its caller. Long reads wait in the
 * queue of their caller, and the quota pays for them and for the rows to write.
 */
export function withWrites(target: Target, services: Services): Implementation<Context> {
  const made = Object.entries(contract).map(([noun, { procedures }]) => {
    const service = services[noun as keyof Services] as Record<string, Run<MutationContext> | undefined>
    const runs = Object.entries(procedures as Record<string, Procedure>).map(([verb, procedure]) => {
      const run = service[verb]
      // `implement` reports a missing function.
      if (run === undefined) return [verb, run]
      if (procedure.type === 'query') {
        const reading: Run = (input, context, shown) =>
          ofCaller(context, () => run(input, context as MutationContext, shown))
        return [verb, reading]
      }
      const name = `${noun}.${verb}`
      const usual = { autocommit: isOfOneRecord(procedure) }
      const writing: Run = (input, context) => {
        const rows = rowsIn(input)
        if (rows > 0) context.spend?.({ rows })
        const write: Write = (work, { prepare, ...options } = {}) =>
          writeOnce(target, context, name, input, work, {
            ...usual,
            ...options,
            ...(prepare && { prepare: (isContinuation) => ofCaller(context, () => prepare(isContinuation)) }),
          }).catch((error) => refuseDelete(error, noun, (input as { id?: number }).id, target.database.read))
        return run(input, { ...context, write })
      }
      return [verb, writing]
    })
    return [noun, Object.fromEntries(runs)]
  })
  return Object.fromEntries(made)
}

/** Runs reads on behalf of a caller, who pays for the long ones. */
function ofCaller<T>(context: Context, work: () => Promise<T>): Promise<T> {
  return readsOf(queueKey(context), work, (readMs) => context.spend?.({ readMs }))
}

/** The number of records in the input of a write of many. */
function rowsIn(input: object): number {
  return Object.values(input).reduce((sum, value) => (Array.isArray(value) ? sum + value.length : sum), 0)
}

function isOfOneRecord({ input, output }: Procedure): boolean {
  return [input, output].some((schema) => 'id' in (schema as unknown as { shape: object }).shape)
}
