import { guessColumns } from '@resource/contract/import-columns'
import type { Field } from '../resources/field.ts'

/** The field of each column; a column without a field is ignored. */
export type Mapping = Record<string, string>

/**
 * Guesses the field of each column from its name: `E-mail address` is `email`.
 *
 * @param idNames other names of the field `id`
 */
export function guessMapping(columns: string[], fields: Field[], idNames: string[]): Mapping {
  const named = fields.map(({ name, label }) => ({ name, names: name === 'id' ? idNames : [label] }))
  return recordOf([...guessColumns(columns, named)] as [string, string][])
}

/** An object without a prototype: it has no `constructor`, but may have a column of this name. */
export function recordOf<Value>(entries: [string, Value][]): Record<string, Value> {
  return Object.assign(Object.create(null), Object.fromEntries(entries))
}
