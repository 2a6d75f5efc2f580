import { type CollectionFacts, contract, type Implementation } from '@resource/contract'
import { declarations, ReferenceViolation, type Tables } from '@resource/database'
import { ApiError } from '@resource/openapi'
import type { Procedure } from '@resource/openapi/contract'
import type { Context, MutationContext, Services, Write } from './context.ts'
import { type Target, writeOnce } from './idempotency.ts'

type Run<C extends Context = Context> = (input: object, context: C, shown?: readonly string[]) => Promise<unknown>

/** Adds `write` to the context of each mutation, bound to the procedure's name, its input and its caller. */
export function withWrites(target: Target, services: Services): Implementation<Context> {
  const made = Object.entries(contract).map(([noun, { procedures }]) => {
    const service = services[noun as keyof Services] as Record<string, Run<MutationContext>>
    const runs = Object.entries(procedures as Record<string, Procedure>).map(([verb, procedure]) => {
      const run = service[verb] as Run<MutationContext>
      if (procedure.type === 'query') return [verb, run]
      const name = `${noun}.${verb}`
      const usual = { autocommit: isOfOneRecord(procedure) }
      const writing: Run = (input, context) => {
        const write: Write = (work, options) =>
          writeOnce(target, context, name, input, work, { ...usual, ...options }).catch((error) =>
            refuseDelete(error, noun, (input as { id?: number }).id, target.database.read),
          )
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

/**
 * Rethrows an error of a write. If records of another collection refer to a deleted one, the error is an ApiError 409 with
 * their number.
 *
 * @param id the deleted record, if it was one
 */
export async function refuseDelete(error: unknown, noun: string, id: number | undefined, read: Tables): Promise<never> {
  if (!(error instanceof ReferenceViolation) || error.referring === undefined) throw error
  const { table, column } = error.referring as { table: keyof Tables; column: string }
  const references: { [column: string]: { table: string } } = declarations[table].references
  const isDirect = id !== undefined && references[column]?.table === noun
  const count = isDirect ? await read[table].count({ [column]: id }) : 0
  const [who, them] = count === 1 ? [`1 ${oneOf(table)} refers`, 'it'] : [`${count} ${table} refer`, 'them']
  throw new ApiError(
    409,
    count > 0
      ? `${who} to the ${oneOf(noun)} by ${column}: delete or change ${them} first`
      : `Some ${table} refer by ${column} to records that would be deleted: delete or change them first`,
    { cause: error },
  )
}

/** The singular noun of a collection. */
function oneOf(noun: string): string {
  return (contract as Record<string, { collection?: CollectionFacts }>)[noun]?.collection?.one ?? noun
}
