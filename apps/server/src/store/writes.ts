import { contract, type Implementation } from '@resource/contract'
import type { Database } from '@resource/database'
import type { Procedure } from '@resource/openapi/contract'
import type { Context, MutationContext, Services, Write } from '../context.ts'
import { writeOnce } from './idempotency.ts'

type Run<C extends Context = Context> = (input: object, context: C, shown?: readonly string[]) => Promise<unknown>

/** The services, with a `write` in the context of each mutation that has the procedure's name, its input and its caller. */
export function withWrites(database: Database, services: Services): Implementation<Context> {
  const made = Object.entries(contract).map(([noun, { procedures }]) => {
    const service = services[noun as keyof Services] as Record<string, Run<MutationContext>>
    const runs = Object.entries(procedures as Record<string, Procedure>).map(([verb, procedure]) => {
      const run = service[verb] as Run<MutationContext>
      if (procedure.type === 'query') return [verb, run]
      const name = `${noun}.${verb}`
      const usual = { isSingle: isOfOneRecord(procedure) }
      const writing: Run = (input, context) => {
        const write: Write = (work, options) =>
          writeOnce(database, context, name, input, work, options === undefined ? usual : { ...usual, ...options })
        return run(input, { ...context, write })
      }
      return [verb, writing]
    })
    return [noun, Object.fromEntries(runs)]
  })
  return Object.fromEntries(made)
}

function isOfOneRecord({ input, output }: Procedure): boolean {
  return [input, output].some((schema) => 'id' in (schema as unknown as { shape: object }).shape)
}
