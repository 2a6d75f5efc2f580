import type { Inclusion } from '@resource/openapi/contract'
import { factsOf } from '@resource/openapi/schema'
import { z } from 'zod'
import {
  annotationsOf,
  type Hidden,
  hidden,
  type id,
  isHidden,
  isReadOnly,
  type ReadOnly,
  type recordId,
  referenceOf,
  timestamp,
  type version,
} from './fields.ts'
import { upper } from './words.ts'

export type Fields = Record<string, z.ZodType>

/** The record as responses show it: all fields but the hidden ones, without input rules. */
export type Shown<F extends Fields> = {
  [K in keyof F as F[K] extends Hidden ? never : K]: z.ZodType<z.output<F[K]>, z.output<F[K]>> &
    (F[K] extends ReadOnly ? ReadOnly : unknown)
}
/** The fields that requests can set. */
export type Writable<F extends Fields> = { [K in keyof F as F[K] extends ReadOnly ? never : K]: F[K] }
export type Changeable<F extends Fields> = {
  [K in keyof F]: F[K] extends z.ZodDefault<infer S extends z.ZodType> | z.ZodOptional<infer S extends z.ZodType>
    ? S
    : F[K]
}
/** The fields that all matching records can be given: no unique and no hidden ones. */
export type Shared<F extends Fields, K> = {
  [N in keyof F as F[N] extends Hidden ? never : Exclude<N, K>]: z.ZodOptional<Changeable<F>[N]>
}

export type Key = { id: typeof recordId }
export type Times<T extends boolean> = T extends true
  ? { created_at: typeof timestamp; updated_at: typeof timestamp }
  : Record<never, never>
/** Whether a declaration has times. */
export type TimesOf<D> = D extends { timestamps: true } ? true : false
/** The fields that filters can name. */
export type Filterable<F extends Fields, T extends boolean> = F & Times<T>
export type PublicRecord<F extends Fields, T extends boolean> = { id: typeof id } & Shown<F> & Times<T>
// Not an alias of the whole object type: comparing two of those takes the compiler five times as long as all the rest.
export type Row<F extends Fields, T extends boolean> = PublicRecord<F, T> & { version: typeof version }
/** @throws Error if a field rejects its own default, is visible and optional, or is neither shown nor set by requests */
export function checkFields(noun: string, fields: Fields): void {
  for (const [name, field] of Object.entries(fields)) {
    const { isOptional, initial, value } = factsOf(field)
    if (isHidden(field) && isReadOnly(field)) throw new Error(`${noun}: ${name} is hidden, so it cannot be read-only`)
    if (isOptional && initial === undefined && !isHidden(field)) {
      throw new Error(
        `${noun}: ${name} is optional; declare the value to store if it is omitted, such as .nullable().default(null)`,
      )
    }
    if (initial === undefined) continue
    const { error } = value.safeParse(initial)
    if (error === undefined) continue
    throw new Error(`${noun}: the default of ${name}, ${JSON.stringify(initial)}, ${error.issues[0]?.message}`)
  }
}

/** @throws Error if records are grouped by a field that is not text, or measured by one that is not a number */
export function checkSummaries(
  noun: string,
  fields: Fields,
  groups: readonly string[],
  measures: readonly string[],
): void {
  const typeOf = (name: string) => factsOf(fields[name] as z.ZodType).type
  const group = groups.find((name) => !['string', 'enum'].includes(typeOf(name)))
  if (group !== undefined)
    throw new Error(`${noun}: records cannot be grouped by ${group}: it must be text or a choice`)
  const measure = measures.find((name) => !['number', 'integer'].includes(typeOf(name)))
  if (measure !== undefined) throw new Error(`${noun}: ${measure} cannot be a measure: it must be a number`)
}

// The ends of the names of a collection's other schemas.
const ENDS = ['Change', 'Changes', 'Create', 'MatchingChanges', 'Result', 'Summary']

/** The nouns of the collections, by the names of their schemas in the document. */
const claims = new Map<string, string>()

/**
 * Claims the names of a collection's schemas.
 *
 * @param One the capitalized singular noun
 * @throws Error if another collection has a schema of such a name
 */
export function claimSchemas(noun: string, One: string): void {
  for (const name of [One, `Versioned${One}`, ...ENDS.map((end) => `${One}${end}`)]) claim(name, noun)
}

function claim(name: string, noun: string): void {
  const other = claims.get(name) ?? noun
  if (other !== noun) {
    throw new Error(`${noun}: the schema ${name} of the document is one of ${other}; choose another name with \`one\``)
  }
  claims.set(name, noun)
}

// The values of named choices, as constants of generated code: Go has those of all choices in one namespace.
const constants = new Set<string>()

/**
 * Names the fields that are a choice in the document: `UserRole`. Some generators for clients do not declare a choice
 * without a name if a body with it has further conditions. A choice that shares a value with a named one has no name.
 */
export function nameChoices(noun: string, One: string, fields: Fields): void {
  for (const [name, field] of Object.entries(fields)) {
    const { core: choice, choices } = factsOf(field)
    const end = name.split('_').map(upper).join('')
    if (choices === undefined || choice.meta()?.id !== undefined || ENDS.includes(end)) continue
    const values = choices.map((value) => `${value}`.toUpperCase().replace(/[^A-Z0-9]/g, ''))
    if (values.some((value) => constants.has(value))) continue
    for (const value of values) constants.add(value)
    claim(`${One}${end}`, noun)
    // Not `meta`, which returns a copy: other procedures have the same schema.
    choice.register(z.globalRegistry, { ...choice.meta(), id: `${One}${end}` })
  }
}

/** The noun of the collection that a field refers to, by field. */
export function referencesOf(fields: Fields): Record<string, string> {
  const found = Object.entries(fields).map(([name, field]) => [name, referenceOf(field)] as const)
  return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/**
 * The references that answers can include, by name: `user` of `user_id`. A collection that cannot be read has none.
 *
 * @param shown the fields of a record, whose names are taken
 */
export function includesOf(references: Readonly<Record<string, string>>, shown: Fields): Record<string, Inclusion> {
  const found = Object.entries(references).flatMap(([field, noun]): [string, Inclusion][] => {
    const name = field.replace(/_id$/, '')
    return name in shown ? [] : [[name, { field, get: `${noun}.get`, list: `${noun}.list`, by: 'id_in', key: 'id' }]]
  })
  return Object.fromEntries(found)
}

export function mapFields<F extends Fields>(fields: F, map: (field: z.ZodType, name: keyof F) => z.ZodType): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, map(field, name)]))
}

export function pickFields(fields: Fields, isPicked: (field: z.ZodType) => boolean): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, field]) => isPicked(field)))
}

export function withoutDefault(field: z.ZodType): z.ZodType {
  const { isOptional, value } = factsOf(field)
  return isOptional && isHidden(field) ? hidden(value) : value
}

/**
 * The schema of a field in responses: its type, without rules that older stored values might break. A whole number keeps
 * its bounds, because client generators choose the integer type by them.
 *
 * @param withExamples whether to keep the examples
 */
export function shownAs(field: z.ZodType, withExamples: boolean): z.ZodType {
  const shown = bareOf(field)
  const { examples } = field.meta() ?? {}
  const kept = {
    ...(withExamples && examples !== undefined && { examples }),
    ...(isReadOnly(field) && { readOnly: true }),
  }
  return Object.keys(kept).length === 0 ? shown : shown.meta({ ...annotationsOf(shown), ...kept })
}

function bareOf(field: z.ZodType): z.ZodType {
  const { type, format, isNullable, value } = factsOf(field)
  const shown =
    type === 'number'
      ? z.number()
      : type !== 'string'
        ? undefined
        : format === 'date'
          ? z.iso.date()
          : format === 'datetime'
            ? timestamp
            : z.string()
  return shown === undefined ? value : isNullable ? shown.nullable() : shown
}
