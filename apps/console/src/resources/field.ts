import { KNOWN_VALUES, type WritableNoun } from '@resource/contract'
import { type Facts, factsOf } from '@resource/contract/schema'
import type { z } from 'zod'

/** A field of a form or a filter, derived from the contract's schema. */
export interface Field {
  name: string
  label: string
  kind: 'text' | 'email' | 'password' | 'number' | 'boolean' | 'date' | 'datetime' | 'choice'
  /** The values to choose from; empty for free text. */
  choices: string[]
  /** Whether it takes several values, separated by commas. */
  isList: boolean
  isRequired: boolean
  /** The value of an empty input. */
  empty: '' | null | undefined
  /** The input text for a new record. */
  initial: string
  schema: z.ZodType
  /** The noun of the records that it refers to. */
  refersTo?: WritableNoun | undefined
}

/** Whether a field can be calculated with. The id of another record is no quantity, and is found by a name. */
export function isQuantity({ kind, refersTo }: Field): boolean {
  return kind === 'number' && refersTo === undefined
}

/** Input texts by field name. */
export type Draft = Record<string, string>

/** Derives a field from its schema. */
export function fieldOf(name: string, label: string, schema: z.ZodType): Field {
  const { isNullable, isOptional, initial, element } = factsOf(schema)
  const isRequired = !isNullable && !isOptional
  const one = factsOf(element ?? schema)
  const choices = choicesOf(one)
  const kind = KINDS[one.type] ?? KINDS[one.format ?? ''] ?? (choices.length > 0 ? 'choice' : 'text')
  return {
    name,
    label,
    kind,
    choices,
    isList: element !== undefined,
    isRequired,
    // An empty input is never a number, even if the number is required.
    empty: isNullable ? null : isRequired && kind !== 'number' ? '' : undefined,
    initial: String(initial ?? (isNullable ? '' : choices[0]) ?? ''),
    schema,
  }
}

function choicesOf({ type, choices, meta }: Facts): string[] {
  if (type === 'boolean') return ['false', 'true']
  return choices?.map(String) ?? (meta[KNOWN_VALUES] as string[] | undefined) ?? []
}

/** The choices of an input, with one for no value if the field may have none. */
export function optionsOf({ choices, empty }: Field): (string | readonly [value: string, text: string])[] {
  return empty === null ? [['', 'none'], ...choices] : choices
}

/** The kinds of types and formats. */
const KINDS: Record<string, Field['kind'] | undefined> = {
  boolean: 'boolean',
  number: 'number',
  integer: 'number',
  date: 'date',
  datetime: 'datetime',
  email: 'email',
  password: 'password',
}

// Without a plus: elsewhere in the console `+5` adds 5.
const DECIMAL = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i

/** Parses an input's text. Text that is not a number or boolean is returned unchanged, so that the schema rejects it. */
export function parseInput(field: Field, text: string): unknown {
  // A password may consist of spaces only.
  if (text === '' || (text.trim() === '' && field.kind !== 'password')) return field.empty
  return field.isList ? text.split(',').map((part) => parseValue(field, part.trim())) : parseValue(field, text)
}

function parseValue({ kind, choices }: Field, text: string): unknown {
  if (kind === 'boolean' && choices.includes(text.trim())) return text.trim() === 'true'
  return kind === 'number' && DECIMAL.test(text.trim()) ? Number(text) : text
}

/** The validation errors of a draft by field name; empty if it is valid. */
export function draftErrors(fields: Field[], draft: Draft): Record<string, string> {
  const errors: Record<string, string> = {}
  for (const field of fields) {
    const text = draft[field.name] ?? ''
    const error = valueError(field, parseInput(field, text))
    if (error !== undefined) errors[field.name] = error
  }
  return errors
}

// A date's label need not be a noun: `Published`.
const NAMED: ReadonlySet<Field['kind']> = new Set(['text', 'email', 'password', 'number'])

/** `Enter an author`: what to do about an empty input. */
export function askFor({ label }: Field): string {
  const name = label === label.toUpperCase() ? label : label.toLowerCase()
  return `Enter ${/^[aeiou]/i.test(name) ? 'an' : 'a'} ${name}`
}

/** The validation error of a value as a sentence. */
export function valueError(field: Field, value: unknown): string | undefined {
  const parsed = field.schema.safeParse(value)
  return parsed.success ? undefined : ruleText(field, value, parsed.error.issues[0]?.message ?? 'is invalid')
}

/** What to do about an empty value or one of another kind; about others, the rule that is broken. */
function ruleText(field: Field, value: unknown, rule: string): string {
  const text = typeof value === 'string' ? value.trim() : undefined
  if ((value == null || text === '') && NAMED.has(field.kind)) return askFor(field)
  if (text !== undefined && isQuantity(field)) return askForNumber(field, text)
  if (text !== undefined && field.kind === 'email' && !ADDRESS.test(text)) {
    return 'Enter an e-mail address, such as name@example.org'
  }
  return fieldMessage(field, rule)
}

// Of a text with this form, only the rule of the contract explains what is wrong.
const ADDRESS = /^[^\s@]+@[^\s@]+\.[^\s@]+$/

/** `Enter a number, such as 12.50`: of a text that is no number. Of `12,5` the example is 12.5. */
function askForNumber({ schema }: Field, text: string): string {
  const pointed = text.replace(',', '.')
  if (factsOf(schema).type === 'integer') return 'Enter a whole number, such as 12'
  return `Enter a number, such as ${DECIMAL.test(pointed) ? pointed : '12.50'}`
}

/** A rule with the field's label: `Price must be a number from 0 to 1,000,000`. */
export function fieldMessage(field: Pick<Field, 'label'>, rule: string): string {
  return `${field.label} ${rule.replace(/\d+e\d+/g, (number) => Number(number).toLocaleString('en'))}`
}

/** The text of a form for `price: must be a number`, the error of a record. */
export function faultText(error: string, fields: Field[], record?: Record<string, unknown>): string {
  const [, name, rule = error] = /^(\w+): (.*)$/.exec(error) ?? []
  if (name === undefined) return error
  const field = fields.find((field) => field.name === name)
  if (field === undefined) return fieldMessage({ label: name }, rule)
  const isValid = record === undefined || valueError(field, record[name]) === undefined
  return isValid ? fieldMessage(field, rule) : ruleText(field, record[name], rule)
}

/** Parses a draft into input values. */
export function inputOf(fields: Field[], draft: Draft): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field.name, parseInput(field, draft[field.name] ?? '')]))
}

/** The draft of a record, or of a new record without `row`. */
export function draftOf(fields: Field[], row?: Record<string, unknown>): Draft {
  return Object.fromEntries(
    fields.map(({ name, initial, kind }) => {
      if (row === undefined) return [name, initial]
      return [name, kind === 'password' ? '' : String(row[name] ?? '')]
    }),
  )
}

/** The value of a filter as text; empty without one. */
export function filterText({ kind }: Field, value: unknown): string {
  return kind === 'datetime' && value !== undefined ? dateOf(String(value)) : String(value ?? '')
}

/** The time at which a date starts in the browser's time zone. */
export function startOfDate(date: string): string {
  return new Date(`${date}T00:00`).toISOString()
}

/** The date of a time in the browser's time zone, as `2026-01-31`. */
export function dateOf(time: string): string {
  return new Date(time).toLocaleDateString('sv')
}
