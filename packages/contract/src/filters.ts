import { and } from '@resource/openapi/contract'
import { factsOf } from '@resource/openapi/schema'
import { z } from 'zod'
import { choiceFilter, isReadOnly, momentBound, momentFilter, must, nfc, searchText, textFilterFor } from './fields.ts'

type Fields = Record<string, z.ZodType>

const BOUNDS = { lt: 'below', lte: 'at most', gt: 'above', gte: 'at least' } as const

type Bound = keyof typeof BOUNDS
type Value<S> = S extends z.ZodType ? NonNullable<z.output<S>> : never

/** The names of possible filters: `status`, `price_lt`, `status_in`, `name_contains`. */
export type FilterName<F extends Fields> = keyof F & string extends infer Name extends string
  ? Name | `${Name}_${Bound | 'in' | 'contains'}`
  : never

// A text filter accepts any text; text that no record has gives an empty list.
type FilterValue<V> = V extends string ? V | (string & {}) : V

/** The schemas of the filters of these names. */
export type Filters<F extends Fields, Names extends string> = {
  [Name in Names]: Name extends keyof F
    ? Filter<FilterValue<Value<F[Name]>>>
    : Name extends `${infer Field}_${Bound}`
      ? Filter<Value<F[Field]>>
      : Name extends `${infer Field}_in`
        ? Filter<FilterValue<Value<F[Field]>>[]>
        : Name extends `${string}_contains`
          ? Filter<string>
          : never
}

type Filter<V> = z.ZodOptional<z.ZodType<V, V>>

/** A parsed filter name: the field, and how it is compared. */
export interface FilterFacts {
  field: string
  by: 'value' | 'in' | 'contains' | Bound
}

/** @param fields the names of all fields of the resource */
export function readFilter(name: string, fields: readonly string[]): FilterFacts {
  if (fields.includes(name)) return { field: name, by: 'value' }
  const cut = name.lastIndexOf('_')
  return { field: name.slice(0, cut), by: name.slice(cut + 1) as FilterFacts['by'] }
}

/**
 * The schema of each filter, derived from the schema of its field.
 *
 * @param searchable the fields that have a search index
 * @throws Error if a filter names no field, has the name of another parameter, is a list of values that may contain commas, or searches a field without a
 * search index
 */
export function filtersOf<F extends Fields, Name extends string>(
  noun: string,
  fields: F,
  names: readonly Name[],
  searchable: readonly string[],
): Filters<F, Name> {
  const made = names.map((name) => {
    const { field, by } = readFilter(name, Object.keys(fields))
    const schema = fields[field]
    if (schema === undefined || !(by === 'value' || by === 'in' || by === 'contains' || by in BOUNDS)) {
      const known = and(Object.keys(fields))
      throw new Error(
        `${noun}: the filter ${name} names no field; the fields are ${known}, each also with _lt, _lte, _gt, _gte, _in or _contains`,
      )
    }
    const { core } = factsOf(schema)
    if (RESERVED.has(name)) throw new Error(`${noun}: a filter cannot have the name ${name}, a parameter of every list`)
    if (by === 'contains' && !searchable.includes(field)) {
      throw new Error(`${noun}: the filter ${name} needs ${field} in \`search\``)
    }
    if (by === 'in' && mayHaveCommas(core)) {
      throw new Error(
        `${noun}: the filter ${name} cannot be a list: in a URL, commas separate its values, and those of ${field} may contain commas`,
      )
    }
    // Requests set filters, also those by a read-only field.
    const filter = filterOf(noun, field, isReadOnly(core) ? core.meta({ readOnly: undefined }) : core, by)
    const { description } = filter.meta() ?? {}
    const optional = filter.optional()
    return [name, description === undefined ? optional : optional.meta({ description })]
  })
  return Object.fromEntries(made)
}

const RESERVED = new Set(['page', 'limit', 'sort', 'after', 'count', 'q', 'by', 'of', 'prefix', 'changes'])

const MAX_VALUES = 100
const valuesRule = must(`a list of 1 to ${MAX_VALUES} values`)

function filterOf(noun: string, field: string, schema: z.ZodType, by: FilterFacts['by']): z.ZodType {
  if (by === 'value') return equal(schema)
  if (by === 'in') {
    return (
      z
        .array(equal(schema), valuesRule)
        .min(1, valuesRule)
        .max(MAX_VALUES, valuesRule)
        // Commas separate the values in a query string.
        .meta({
          description: `Only ${noun} whose ${field} is one of these values.`,
          param: { style: 'form', explode: false },
        })
    )
  }
  if (by === 'contains') {
    return searchText.meta({ ...searchText.meta(), description: `Only ${noun} whose ${field} contains these words.` })
  }
  const { type, format } = factsOf(schema)
  const isNumber = type === 'number' || type === 'integer'
  const value = isNumber ? 'this number' : 'this value'
  const bound = isNumber ? z.number(must('a number')) : format === 'datetime' ? momentBound[by] : schema
  return bound.meta({ description: `Only ${noun} whose ${field} is ${BOUNDS[by]} ${value}.` })
}

function equal(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodEnum) return choiceFilter(schema)
  const { type, format, maxLength = 0, meta } = factsOf(schema)
  if (format === 'datetime') return momentFilter
  if (type !== 'string' || format === 'date') return schema
  const examples = meta.examples as string[] | undefined
  const anyText = textFilterFor(maxLength)
  // Like the stored text.
  const filter = anyText.trim().overwrite(nfc)
  return examples === undefined ? filter : filter.meta({ ...anyText.meta(), examples })
}

function mayHaveCommas(schema: z.ZodType): boolean {
  const { choices, type, format = '' } = factsOf(schema)
  if (choices !== undefined) return choices.some((choice) => String(choice).includes(','))
  return !['number', 'integer', 'boolean'].includes(type) && !['date', 'datetime'].includes(format)
}
