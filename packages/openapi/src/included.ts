import { z } from 'zod'
import type { Contract, Inclusion, Procedure } from './contract.ts'
import { namesParameter } from './names-parameter.ts'
import { factsOf } from './schema.ts'

/** The query parameter that adds the records to which those of the response refer. */
export const INCLUDE = 'include'

/** How a caller includes referenced records. */
export interface Includer {
  /** The schema of the parameter. */
  schema: z.ZodType
  /** The response with all of them. */
  response: z.ZodType
  /** @returns the names in the order of the declaration. @throws ApiError 400 for others */
  choose: (names: string) => string[]
}

/** The includer of a response that is a record or a list of records; undefined without references to queries of the contract, of which that for one has an `ETag`. */
export function includerOf(
  contract: Contract,
  response: z.ZodType,
  includes: Readonly<Record<string, Inclusion>> = {},
): Includer | undefined {
  const { element } = factsOf(response)
  const record = element ?? response
  const known = Object.entries(includes).filter(
    ([, { get, list }]) => find(contract, get)?.meta.openapi.etag !== undefined && find(contract, list) !== undefined,
  )
  if (!(record instanceof z.ZodObject) || known.length === 0) return undefined
  const names = known.map(([name]) => name)
  const fields = known.map(([name, { get }]) => {
    const { meta, output } = find(contract, get) as Procedure
    const description = `Only with \`include=${name}\`; null if there is none.`
    return [name, (meta.openapi.response ?? output).nullable().optional().meta({ description })]
  })
  const extended = record.extend(Object.fromEntries(fields))
  const { schema, read } = namesParameter(INCLUDE, names, {
    description: (rule) => `The referenced records that the answer contains, too: ${rule}.`,
    example: names[0],
  })
  return {
    schema,
    response: element === undefined ? extended : z.array(extended).meta(response.meta() ?? {}),
    choose: read,
  }
}

function find(contract: Contract, name: string): Procedure | undefined {
  const [noun = '', verb = ''] = name.split('.')
  return contract[noun]?.procedures[verb]
}
