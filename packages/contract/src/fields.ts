import type { Role } from '@resource/openapi/contract'
import { z } from 'zod'

// Every rule of a field is said once, as the sentence an error ends with: `name: must be …`.
export const must = (rule: string) => ({ error: `must be ${rule}` })

// In the notation that JavaScript, Python, Java and Go share.
export const WITHOUT_NUL = '^[^\\x00]*$'
// Its parts are disjoint, so that it takes linear time.
const NOT_BLANK = '^\\s*[^\\s\\x00][^\\x00]*$'

const wellFormed = (value: string) => value.isWellFormed() && !value.includes('\0')

/** Text of `min` to `max` characters (code points, as JSON Schema counts them) after trimming. */
export function text(min: number, max: number) {
  const rule = must(`text of ${min} to ${max} characters`)
  return z
    .string(rule)
    .trim()
    .refine((value) => {
      // A code point takes one or two UTF-16 units; counting is for the strings in between.
      if (value.length < min || value.length > 2 * max) return false
      return value.length <= max || [...value].length <= max
    }, rule)
    .refine(wellFormed, must('text without NUL characters and lone surrogates'))
    .meta({ minLength: min, maxLength: max, pattern: NOT_BLANK })
}

const LARGEST_ID = 2 ** 31 - 1

/** A whole number from `min` to `max`. */
export function whole(min: number, max: number) {
  const rule = must(`a whole number from ${min} to ${max}`)
  return z.int(rule).min(min, rule).max(max, rule)
}

/** A number from `min` to `max`. */
export function decimal(min: number, max: number) {
  const rule = must(`a number from ${written(min)} to ${written(max)}`)
  return z.number(rule).min(min, rule).max(max, rule)
}

/** `1e12` rather than `1000000000000`. */
function written(value: number): string {
  return value < 1e9 ? String(value) : value.toExponential().replace('+', '')
}

/** A calendar date, `YYYY-MM-DD`. */
export function date() {
  return z.iso
    .date(must('a calendar date, YYYY-MM-DD'))
    .meta({ maxLength: 10, description: 'A calendar date, `YYYY-MM-DD`.' })
}

export const id = whole(1, LARGEST_ID).meta({ description: 'Assigned by the service, never reused.', examples: [7] })

/** The key under which a schema names the collection whose record it refers to. */
const REFERENCE = 'x-references'

/**
 * The id of a record of another collection. The model in `prisma/schema.prisma` has the foreign key, and says what
 * happens when that record is deleted.
 *
 * @param noun of the other collection: `users`
 */
export function reference(noun: string) {
  return whole(1, LARGEST_ID).meta({ description: `The id of one of the ${noun}.`, examples: [7], [REFERENCE]: noun })
}

/** The collection that a field refers to; undefined where it is no reference. */
export function referenceOf(field: z.ZodType): string | undefined {
  return field.meta()?.[REFERENCE] as string | undefined
}

const idRule = must('a whole number')

/**
 * The id of a record that is looked for: any integer. One that no record can have is read as 0, which none has, so that
 * every engine can be asked for it.
 *
 * @param largest the largest id that a record of the table can have
 */
export function idUpTo(largest: number) {
  return z
    .number(idRule)
    .refine(Number.isInteger, idRule)
    .meta({
      type: 'integer',
      // As far as JSON's integers are the same to every reader (RFC 7493).
      minimum: Number.MIN_SAFE_INTEGER,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Any integer; a 404 where no record has it.',
      examples: [7],
    })
    .transform((id) => (id >= 1 && id <= largest ? id : 0))
}

export const recordId = idUpTo(LARGEST_ID)

export const version = whole(1, LARGEST_ID).meta({ description: 'Grows with each write of the record.' })

export const timestamp = z.iso
  .datetime({ precision: 3 })
  .meta({ id: 'Timestamp', description: 'UTC, with milliseconds.', examples: ['2026-11-21T08:30:00.000Z'] })

const timeRule = must('a time in UTC such as 2027-01-31T00:00:00Z')

/** A time as a caller sends it. */
export const moment = z.iso.datetime(timeRule).max(40, timeRule)

export const message = z.object({ message: z.string() }).meta({ id: 'Message' })

export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, must('1 to 255 visible ASCII characters'))
  .optional()
  .meta({
    maxLength: 255,
    description:
      'Makes a repeat harmless: within 24 hours the same key with the same request gets the first answer again, with another request a 409. A key belongs to one operation and one caller.',
  })

const versionRule = must('a version number or a list of at most 100')
const ifVersion = z
  .union([version, z.array(version).max(100)], versionRule)
  .optional()
  .meta({ description: 'Write only if the record still has this version (one of these), else 412.' })

/** What the write of a known record takes beside its fields. */
export const write = { if_version: ifVersion, idempotency_key: idempotencyKey }

/** REST headers of a write, by the input field they fill. */
export const writeHeaders = { 'Idempotency-Key': 'idempotency_key' }

/** The same, and `If-Match`, for the write of a known record. */
export const conditional = { headerParams: writeHeaders, ifMatch: 'if_version' }

/** What the 412 of such a write tells: the version that is stored. */
export const stale = { 412: z.object({ version }) }

/** `Location` of what was created; `{id}` in the template is the new id. */
export function location(template: string) {
  return {
    Location: {
      description: 'Path of the new record.',
      value: ({ output }: { output: { id: number } }) => template.replace('{id}', String(output.id)),
    },
  }
}

/** What a change of a known record takes: any subset of `fields`. */
export function changesOf<F extends z.ZodRawShape>(fields: F) {
  return z
    .object(fields)
    .partial()
    .extend({ id: recordId, ...write })
}

const filterRule = must('text without NUL characters and lone surrogates')

/** A filter by equality: any text that can be stored, for what no record has is an empty list. */
export const textFilter = z
  .string(filterRule)
  .refine(wellFormed, filterRule)
  // The head of a request has no room for more.
  .meta({ maxLength: 16_384, pattern: WITHOUT_NUL })

/** The type's mark of a field that is written and never shown. */
export interface Hidden {
  readonly [HIDDEN]: true
}
declare const HIDDEN: unique symbol

/** A field that is written and never shown, such as a password. Clients ask for it without showing what is typed. */
export function hidden<S extends z.ZodType>(field: S): S & Hidden {
  return field.meta({ ...field.meta(), writeOnly: true, format: 'password' }) as S & Hidden
}

export function isHidden(field: z.ZodType): boolean {
  if (field instanceof z.ZodDefault || field instanceof z.ZodOptional || field instanceof z.ZodNullable) {
    return field.meta()?.writeOnly === true || isHidden(field.unwrap() as z.ZodType)
  }
  return field.meta()?.writeOnly === true
}

/** The key under which a schema names the role that it takes to change its field, once there are keys. */
export const FIELD_ROLE = 'x-role'

/** A field that only callers of a role may change, once there are keys. */
export function changedBy<S extends z.ZodType>(role: Role, field: S): S {
  const { description, ...meta } = field.meta() ?? {}
  const rule = `To change it needs the role \`${role}\` once there are API keys.`
  return field.meta({ ...meta, description: description ? `${description} ${rule}` : rule, [FIELD_ROLE]: role })
}

/** The key under which a schema names the roles that single values of its field need, once there are keys. */
export const VALUE_ROLES = 'x-value-roles'

/** A field some of whose values only callers of a role may give, once there are keys. */
export function givenBy<S extends z.ZodType>(roles: Record<string, Role>, field: S): S {
  const rules = Object.entries(roles).map(([value, role]) => `\`${value}\` needs the role \`${role}\``)
  return field.meta({
    ...field.meta(),
    description: `${rules.join(', ')} once there are API keys.`,
    [VALUE_ROLES]: roles,
  })
}

/** The key under which a schema names the values that are known, where others are taken too. */
export const KNOWN_VALUES = 'x-extensible-enum'

/** A filter by a field of known values: clients offer these, and any other text is taken too. */
export function choiceFilter<Values extends z.core.util.EnumLike>(choice: z.ZodEnum<Values>) {
  type Offered = z.output<typeof choice> | (string & {})
  return textFilter.meta({ ...textFilter.meta(), [KNOWN_VALUES]: choice.options }) as unknown as z.ZodType<
    Offered,
    Offered
  >
}

const MOST_AT_ONCE = 1000

/** What a bulk create takes: 1 to 1,000 records. */
export function many<S extends z.ZodType>(record: S, noun: string) {
  const rule = must(`an array of 1 to ${MOST_AT_ONCE} ${noun}`)
  return z.array(record, rule).min(1, rule).max(MOST_AT_ONCE, rule)
}

/** The REST side of a bulk create, whose input and output hold the records under `noun`. */
export function bulk(noun: string) {
  return {
    description: `1 to ${MOST_AT_ONCE.toLocaleString('en')} ${noun}, all or none, answered in the order sent. An error names the index and the field.`,
    successDescription: `The created ${noun}.`,
    status: 201,
    body: noun,
    bodyLimit: 4 * 1024 * 1024,
    responseBody: noun,
    envelope: noun,
    headerParams: writeHeaders,
  } as const
}
