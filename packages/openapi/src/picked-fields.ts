import { z } from 'zod'
import type { EnvelopeForm } from './contract.ts'
import { namesParameter } from './names-parameter.ts'
import { compiled } from './parser.ts'
import { defOf, factsOf } from './schema.ts'

/** The query parameter that picks the fields of the records in the response. */
export const FIELDS = 'fields'

/** How the response shows the output. */
export interface View {
  /** The record fields that the response needs; undefined if it does not contain objects. */
  shown: readonly string[] | undefined
  /** The schema that makes the response of the output. */
  shows: () => { parse: (output: unknown) => unknown }
  /** The name and hash of the response schema for an `ETag`, with or without the envelope: `User.5b1f0c`. */
  form: (envelope?: EnvelopeForm) => string
}

/** How a caller picks the fields of a response. */
export interface Picker {
  /** The schema of the parameter. */
  schema: z.ZodType
  /** @throws ApiError 400 if the value of the parameter names other fields */
  pick: (names: string) => View
}

/**
 * The picker of a response that is a record or a list of records.
 *
 * @param where the binding, for the error message
 * @param whole shows all fields
 * @param versionField the output field with the version
 * @throws Error for any other response
 */
export function pickerOf(where: string, response: z.ZodType, whole: View, versionField: string | undefined): Picker {
  const { element } = factsOf(response)
  const record = element ?? response
  const shape = answeredShape(record)
  if (shape === undefined) throw new Error(`${where}: fields can be picked only of a record, or of a list of them`)
  const all = Object.keys(shape)
  const parsers = Object.fromEntries(all.map((name) => [name, compiled(shape[name] as z.ZodType)]))
  const isPlain = record instanceof z.ZodObject
  const { schema, read } = namesParameter(FIELDS, all, {
    description: (rule) =>
      `The fields of the answer: ${rule}. It then lacks all others, also required ones. Default: all.`,
    example: all.slice(0, 2).join(','),
  })

  const pick = (text: string): View => {
    const names = read(text)
    if (names.length === all.length) return whole
    const picked = (row: unknown) => {
      const values = row as Record<string, unknown>
      return Object.fromEntries(
        names.map((name) => [name, isPlain ? parsers[name]?.().parse(values[name]) : values[name]]),
      )
    }
    const parse = (output: unknown) => {
      // A transform needs all of its fields.
      const answer = isPlain ? output : whole.shows().parse(output)
      return element === undefined ? picked(answer) : (answer as unknown[]).map(picked)
    }
    const needed = [...names, ...(versionField === undefined || names.includes(versionField) ? [] : [versionField])]
    return {
      shown: isPlain ? needed : whole.shown,
      shows: () => ({ parse }),
      form: (envelope) => `${whole.form(envelope)}-${names.map(encodeURIComponent).join('.')}`,
    }
  }
  return { schema, pick }
}

/** The fields of the object that a schema gives; undefined if it gives none. */
function answeredShape(schema: z.ZodType): z.ZodRawShape | undefined {
  if (schema instanceof z.ZodObject) return schema.shape
  const { type, out } = defOf(schema)
  return type === 'pipe' && out !== undefined ? answeredShape(out) : undefined
}
