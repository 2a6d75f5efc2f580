import { KNOWN_VALUES } from '@resource/contract'
import { z } from 'zod'

/** A field of a form or a filter, as the contract's schema makes it. */
export interface Field {
  name: string
  label: string
  kind: 'text' | 'email' | 'password' | 'number' | 'boolean' | 'date' | 'choice'
  /** The values to choose from; empty where any may be typed. */
  choices: string[]
  /** Whether it takes several values, with commas between them. */
  isList: boolean
  isRequired: boolean
  /** What an empty input stands for. */
  empty: '' | null | undefined
  /** What a new record begins with, as the input shows it. */
  initial: string
  schema: z.ZodType
}

/** Values by field name as inputs hold them. */
export type Draft = Record<string, string>

/** The field that `schema` describes. */
export function fieldOf(name: string, label: string, schema: z.ZodType): Field {
  let core = schema
  let isNullable = false
  let initial: unknown
  while (core instanceof z.ZodNullable || core instanceof z.ZodOptional || core instanceof z.ZodDefault) {
    if (core instanceof z.ZodNullable) isNullable = true
    if (core instanceof z.ZodDefault) initial = core.def.defaultValue
    core = core.unwrap() as z.ZodType
  }
  const isRequired = core === schema
  const isList = core instanceof z.ZodArray
  if (core instanceof z.ZodArray) core = core.element as z.ZodType
  const choices = choicesOf(core)
  const kind = kindOf(core) ?? (choices.length > 0 ? 'choice' : 'text')
  return {
    name,
    label,
    kind,
    choices,
    isList,
    isRequired,
    // An empty number is no number, whether it may be left out or not.
    empty: isNullable ? null : isRequired && kind !== 'number' ? '' : undefined,
    initial: String(initial ?? (isNullable ? '' : choices[0]) ?? ''),
    schema,
  }
}

function choicesOf(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodBoolean) return ['false', 'true']
  if (schema instanceof z.ZodEnum) return schema.options.map(String)
  return (schema.meta()?.[KNOWN_VALUES] as string[] | undefined) ?? []
}

function kindOf(schema: z.ZodType): Field['kind'] | undefined {
  if (schema instanceof z.ZodBoolean) return 'boolean'
  if (schema instanceof z.ZodNumber) return 'number'
  if (schema instanceof z.ZodISODate) return 'date'
  if (schema instanceof z.ZodEmail) return 'email'
  return schema.meta()?.format === 'password' ? 'password' : undefined
}

const DECIMAL = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i

/** What an input's text stands for; text that is no number or boolean stays text, for the schema to refuse. */
export function fromText(field: Field, text: string): unknown {
  // Spaces alone are a password like any other.
  if (text === '' || (text.trim() === '' && field.kind !== 'password')) return field.empty
  return field.isList ? text.split(',').map((part) => oneFromText(field, part.trim())) : oneFromText(field, text)
}

function oneFromText({ kind, choices }: Field, text: string): unknown {
  if (kind === 'boolean' && choices.includes(text.trim())) return text.trim() === 'true'
  return kind === 'number' && DECIMAL.test(text.trim()) ? Number(text) : text
}

/** What the schemas say against a draft, by field name; empty when it may be sent. */
export function faultsOf(fields: Field[], draft: Draft): Record<string, string> {
  const faults: Record<string, string> = {}
  for (const field of fields) {
    const fault = faultOf(field, fromText(field, draft[field.name] ?? ''))
    if (fault !== undefined) faults[field.name] = fault
  }
  return faults
}

/** What the schema says against a value, as a sentence. */
export function faultOf(field: Field, value: unknown): string | undefined {
  const parsed = field.schema.safeParse(value)
  return parsed.success ? undefined : sentence(field, parsed.error.issues[0]?.message ?? 'is wrong')
}

/** A rule as a sentence about the field: `Name must be text of 1 to 200 characters`. */
export function sentence(field: Field, rule: string): string {
  return `${field.label} ${rule}`
}

/** The values of `fields` that a draft stands for. */
export function inputOf(fields: Field[], draft: Draft): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field.name, fromText(field, draft[field.name] ?? '')]))
}

/** A record as a form shows it; without one, what a new record begins with. */
export function draftOf(fields: Field[], row?: Record<string, unknown>): Draft {
  return Object.fromEntries(
    fields.map(({ name, initial, kind }) => {
      if (row === undefined) return [name, initial]
      return [name, kind === 'password' ? '' : String(row[name] ?? '')]
    }),
  )
}
