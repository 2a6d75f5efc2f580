import { grouped } from '@resource/openapi/contract'
import { factsOf } from '@resource/openapi/schema'
import { z } from 'zod'

// Each rule of a field has one text, used at the end of its error message: `name: must be …`.
export const must = (rule: string) => ({ error: `must be ${rule}` })

// In the notation that JavaScript, Python, Java and Go share.
export const WITHOUT_NUL = '^[^\\x00]*$'
// Its parts are disjoint, so that it takes linear time.
const NOT_BLANK = '^\\s*[^\\s\\x00][^\\x00]*$'

// A longer run is no text of any language, and takes a time in the square of its length to normalize.
const MAX_MARKS = 255
const MARKS = new RegExp(`(?:^|\\P{M})\\p{M}{${MAX_MARKS + 1}}`, 'u')

export const hasFewMarks = (value: string) => !MARKS.test(value)
export const marksRule = must(`text with at most ${MAX_MARKS} combining marks in a row`)

/**
 * A text in Unicode NFC: texts that look alike are then equal. One with a run of too many combining marks is returned as it is,
 * and so is one that in NFC has more than `max` characters for sure, because normalizing it only to refuse it would be slow.
 */
export function nfc(value: string, max = Number.POSITIVE_INFINITY): string {
  // No character decomposes into more than four, and a text has at most as many characters as its decomposition.
  return hasAtMost(4 * max, value) && hasFewMarks(value) ? value.normalize() : value
}

const wellFormed = (value: string) => value.isWellFormed() && !value.includes('\0')

/** Text of `min` to `max` characters (code points, as JSON Schema counts them), in NFC, after trimming. */
export function text(min: number, max: number) {
  const rule = must(`text of ${min} to ${max} characters`)
  return z
    .string(rule)
    .trim()
    .overwrite((value) => nfc(value, max))
    .refine((value) => value.length >= min && hasAtMost(max, value), { ...rule, abort: true })
    .refine(wellFormed, must('text without NUL characters and lone surrogates'))
    .refine(hasFewMarks, marksRule)
    .meta({ minLength: min, maxLength: max, pattern: NOT_BLANK })
}

function hasAtMost(max: number, value: string): boolean {
  // A code point takes one or two UTF-16 units, so only lengths between `max` and `2 * max` need counting.
  return value.length <= max || (value.length <= 2 * max && [...value].length <= max)
}

const LARGEST_ID = 2 ** 31 - 1

/** A whole number from `min` to `max`. */
export function whole(min: number, max: number) {
  const rule = must(`a whole number from ${min} to ${max}`)
  return z.int(rule).min(min, rule).max(max, rule)
}

/** The schema key for the decimals of a number. */
const DECIMALS = 'x-decimals'
const DEFAULT_DECIMALS = 2

/**
 * A number from `min` to `max`.
 *
 * @param decimals to how many decimals a calculated value is rounded; 2 by default
 */
export function decimal(min: number, max: number, decimals?: number) {
  const rule = must(`a number from ${written(min)} to ${written(max)}`)
  const field = z.number(rule).min(min, rule).max(max, rule)
  return decimals === undefined ? field : field.meta({ [DECIMALS]: decimals })
}

/** To how many decimals a calculated value of a number field is rounded. */
export function decimalsOf(field: z.ZodType): number {
  const { type, meta } = factsOf(field)
  return type === 'integer' ? 0 : ((meta[DECIMALS] as number | undefined) ?? DEFAULT_DECIMALS)
}

/** `1e12` rather than `1000000000000`. */
function written(value: number): string {
  return value < 1e9 ? String(value) : value.toExponential().replace('+', '')
}

/** A calendar date, `YYYY-MM-DD`. Without the year 0, which Python and PostgreSQL do not have. */
export function date() {
  return z.iso
    .date(must('a calendar date, YYYY-MM-DD'))
    .refine((text) => !text.startsWith('0000'), must('a calendar date, YYYY-MM-DD, from year 0001'))
    .meta({ maxLength: 10, description: 'A calendar date, `YYYY-MM-DD`.' })
}

/** A number of records. */
export const count = z.int().min(0)

export const id = whole(1, LARGEST_ID).meta({ description: 'Assigned by the service, never reused.', examples: [7] })

/** The key under which a schema names the collection whose record it refers to. */
const REFERENCE = 'x-references'

/** The type of a reference. */
export interface Reference {
  readonly [REFERS]: true
}
declare const REFERS: unique symbol

/**
 * The id of a record of another collection. The model in `prisma/schema.prisma` declares the foreign key and what
 * happens when that record is deleted.
 *
 * @param noun the noun of the other collection: `users`
 */
export function reference(noun: string) {
  const id = whole(1, LARGEST_ID)
  const facts = { description: `The id of one of the ${noun}.`, examples: [7], [REFERENCE]: noun }
  return id.meta(facts) as typeof id & Reference
}

/** The collection that a field refers to; undefined if the field is not a reference. */
export function referenceOf(field: z.ZodType): string | undefined {
  return factsOf(field).meta[REFERENCE] as string | undefined
}

const idRule = must('a whole number')

/**
 * The id of a record to look up: any integer. An id that no record can have becomes 0, which is never assigned, so that
 * every database engine accepts it.
 *
 * @param largest the largest id that a record of the table can have
 */
export function idUpTo(largest: number) {
  return z
    .number(idRule)
    .refine(Number.isInteger, idRule)
    .meta({
      type: 'integer',
      // The range in which all JSON parsers read the same integer (RFC 7493).
      minimum: Number.MIN_SAFE_INTEGER,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Any integer. An id without a record gets a 404.',
      examples: [7],
    })
    .transform((id) => (id >= 1 && id <= largest ? id : 0))
}

export const recordId = idUpTo(LARGEST_ID)

export const version = whole(1, LARGEST_ID).meta({ description: 'Increases with each change of the record.' })

const time = z.iso.datetime({ precision: 3 })
const timeFacts = { description: 'UTC, with milliseconds.', examples: ['2026-11-21T08:30:00.000Z'] }

export const timestamp = time.meta({ id: 'Timestamp', ...timeFacts })

/** Without a name in the document: code generators handle `type: [string, "null"]` better than a reference or null. */
export const nullableTimestamp = time.nullable().meta(timeFacts)

const timeRule = must('an RFC 3339 time such as 2027-01-31T00:00:00Z')

// A leap second has the number 60.
const RFC_3339 =
  /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.(\d+))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const FIRST_MS = Date.parse('0001-01-01T00:00:00Z')
const END_MS = Date.parse('9999-12-31T23:59:59.999Z') + 1

/**
 * An RFC 3339 time in ms, rounded down, and whether digits were cut off; undefined for any other text. Years are from 1 to
 * 9999 in UTC. A leap second, which only the last minute of a day has, counts as the second that follows.
 */
function instantOf(text: string): { ms: number; isCut: boolean } | undefined {
  const [, date = '', hour, minute, second, fraction = '', sign, hours, minutes] = RFC_3339.exec(text) ?? []
  if (!z.regexes.date.test(date)) return undefined
  const offset = Number(`${sign ?? '+'}1`) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0))
  const minuteMs = Date.parse(`${date}T${hour}:${minute}Z`) - offset * MINUTE_MS
  if (second === '60' && (minuteMs + MINUTE_MS) % DAY_MS !== 0) return undefined
  const ms = minuteMs + Number(second) * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'))
  return ms >= FIRST_MS && ms < END_MS ? { ms, isCut: /[1-9]/.test(fraction.slice(3)) } : undefined
}

const anyMoment = z.iso
  .datetime({ ...timeRule, pattern: RFC_3339 } as typeof timeRule)
  .max(1000, timeRule)
  .refine((text) => instantOf(text) !== undefined, timeRule)

/** A time that becomes UTC with milliseconds. @param cut how much a time with further digits is rounded up, in ms */
const momentWith = (cut: (ms: number) => number) =>
  anyMoment.overwrite((text) => {
    const instant = instantOf(text)
    if (instant === undefined) return text
    return new Date(instant.isCut ? cut(instant.ms) : instant.ms).toISOString()
  })

/** A time in a request. Digits after the milliseconds are cut off. */
export const moment = momentWith((ms) => ms)

/** A time after or before which records are searched. No stored time is between two milliseconds. */
export const momentBound = {
  lt: momentWith((ms) => ms + 1),
  gte: momentWith((ms) => ms + 1),
  lte: moment,
  gt: moment,
} as const

/** A time that records are searched by. No record has the end of the year 9999, nor a time with further digits. */
export const momentFilter = momentWith(() => END_MS)

export const message = z.object({ message: z.string() }).meta({ id: 'Message' })

const keyRule = must('1 to 255 visible ASCII characters')

export const idempotencyKey = z
  .string(keyRule)
  .regex(/^[\x21-\x7e]{1,255}$/, keyRule)
  .optional()
  .meta({
    maxLength: 255,
    description:
      'Makes it safe to retry the request. Within 24 hours, a retry with the same key gets the first response again. The same key with a different request gets a 409. A key applies to one operation and one caller.',
  })

const groupRule = must('a UUID')

const requestIdRule = must('the X-Request-Id of the answer to a write')

/** The id that the service gave a request. UUIDs are equal regardless of case (RFC 9562, 4). */
export const requestId = z.uuidv7(requestIdRule).max(36, requestIdRule).toLowerCase()

/** The group of requests that a client chooses. */
export const requestGroup = z.uuid(groupRule).max(36, groupRule).toLowerCase()

/** The version that a row of a write of many records requires. One value, because generators for Java allow no union. */
export const rowVersion = z
  .int(must('a version number'))
  .min(1, must('a version number'))
  .max(LARGEST_ID, must('a version number'))
  .optional()
  .meta({ description: 'Write only if the record still has this version; otherwise the status is 412.' })

const versionRule = must('a version number or a list of at most 100')
const ifVersion = z
  .union([version, z.array(version).max(100)], versionRule)
  .optional()
  .meta({ description: 'Write only if the record still has this version, or one of these versions; otherwise 412.' })

/** The input of a write to an existing record, in addition to its fields. */
export const write = { if_version: ifVersion, idempotency_key: idempotencyKey }

/** The REST headers of a write and the input field that each one fills. */
export const writeHeaders = { 'Idempotency-Key': 'idempotency_key' }

/** The headers of a write to an existing record: those of every write, and `If-Match`. */
export const conditional = { headerParams: writeHeaders, ifMatch: 'if_version' }

/** The data of a 412: the stored version. */
export const stale = { 412: z.object({ version }) }

/** The `Location` header of a new record; `{id}` in the template is the new id. */
export function location(template: string) {
  return {
    Location: {
      description: 'Path of the new record.',
      value: ({ output }: { output: { id: number } }) => template.replace('{id}', String(output.id)),
    },
  }
}

/** The input of an update: any subset of `fields`. */
export function changesOf<F extends z.ZodRawShape>(fields: F) {
  return z
    .object(fields)
    .partial()
    .extend({ id: recordId, ...write })
}

const wordsRule = must('words of at least 2 characters')

const phrase = text(1, 200)

/** The text of a search: words of 2 or more characters. */
export const searchText = phrase
  .refine((value) => value.split(/\s+/).every((word) => [...word].length >= 2), wordsRule)
  .meta({ ...phrase.meta(), examples: ['ada love'] })

const filterRule = must('text without NUL characters and lone surrogates')

// A character takes up to 12 bytes in a URL, and the head of a request has at most 16 KiB.
const MAX_FILTER = 1000

/**
 * A filter by equality. It accepts any text that can be stored and fits in a URL; text that no record has gives an empty list.
 *
 * @param longest the most characters of a stored text
 */
export function textFilterFor(longest: number) {
  const max = Math.max(MAX_FILTER, longest)
  return z
    .string(filterRule)
    .refine(wellFormed, filterRule)
    .refine((value) => hasAtMost(max, value), { ...must(`text of at most ${max} characters`), abort: true })
    .meta({ maxLength: max, pattern: WITHOUT_NUL })
}

export const textFilter = textFilterFor(0)

/** The type of a write-only field. */
export interface Hidden {
  readonly [HIDDEN]: true
}
declare const HIDDEN: unique symbol

/** A write-only field, such as a password. Clients prompt for it without echo. */
export function hidden<S extends z.ZodType>(field: S): S & Hidden {
  return field.meta({ ...field.meta(), writeOnly: true, format: 'password' }) as S & Hidden
}

export function isHidden(field: z.ZodType): boolean {
  return factsOf(field).meta.writeOnly === true
}

/** The type of a read-only field. */
export interface ReadOnly {
  readonly [READ_ONLY]: true
}
declare const READ_ONLY: unique symbol

/**
 * A field that no request sets: a rule of the collection computes it. Without one, a new record has its default, or null.
 */
export function readOnly<S extends z.ZodType>(field: S): S & ReadOnly {
  return field.meta({ ...field.meta(), readOnly: true }) as S & ReadOnly
}

export function isReadOnly(field: z.ZodType): boolean {
  return factsOf(field).meta.readOnly === true
}

/** What `meta` of another schema can repeat: all but the name, which only one schema can have. */
export function annotationsOf(field: z.ZodType): z.core.GlobalMeta {
  const { id, ...annotations } = field.meta() ?? {}
  return annotations
}

/** The schema key for the known values of a field that also accepts others. */
export const KNOWN_VALUES = 'x-extensible-enum'

/** A filter by an enum field. Clients suggest the known values; any other text is also accepted. */
export function choiceFilter(choice: z.ZodEnum) {
  return textFilter.meta({ ...textFilter.meta(), [KNOWN_VALUES]: choice.options })
}

const MAX_BULK_RECORDS = 1000

/** The records of a bulk create: 1 to 1,000. */
export function many<S extends z.ZodType>(record: S, noun: string) {
  const rule = must(`an array of 1 to ${MAX_BULK_RECORDS} ${noun}`)
  return z.array(record, rule).min(1, rule).max(MAX_BULK_RECORDS, rule)
}

/** The largest body of a request, in bytes: of many records. Of one record, it is the default of the adapter. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024

/** The REST binding of a bulk create, whose input and output have the records under `noun`. */
export function bulk(noun: string) {
  return {
    description: `Creates 1 to ${grouped(MAX_BULK_RECORDS)} ${noun}, all or none, and returns them in the order sent. An error names the index and the field.`,
    successDescription: `The created ${noun}.`,
    status: 201,
    body: noun,
    bodyLimit: MAX_BODY_BYTES,
    responseBody: noun,
    envelope: noun,
    headerParams: writeHeaders,
  } as const
}
