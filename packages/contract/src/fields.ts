import { z } from 'zod'

// Every rule of a field is said once, as the sentence an error ends with: `name: must be …`.
export const must = (rule: string) => ({ error: `must be ${rule}` })

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
    .meta({ minLength: min, maxLength: max, pattern: '\\S' })
}

const LARGEST_ID = 2 ** 31 - 1

/** A whole number from `min` to `max`. */
export function whole(min: number, max: number) {
  const rule = must(`a whole number from ${min} to ${max}`)
  return z.int(rule).min(min, rule).max(max, rule)
}

export const id = whole(1, LARGEST_ID).meta({ description: 'Assigned by the service, never reused.', examples: [7] })

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
      'Makes a repeat harmless: within 24 hours the same key with the same request gets the first answer again, with another request a 409.',
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

/** `Location` of what was created; `{id}` in the template is the new id. */
export function location(template: string) {
  return {
    Location: {
      description: 'Path of the new record.',
      value: ({ output }: { output: { id: number } }) => template.replace('{id}', String(output.id)),
    },
  }
}

/** What a change of a known record takes: any of `fields`, at least one. */
export function changesOf<F extends z.ZodRawShape>(fields: F) {
  const names = Object.keys(fields)
  return z
    .object(fields)
    .partial()
    .extend({ id, ...write })
    .refine((input) => names.some((name) => (input as Record<string, unknown>)[name] !== undefined), {
      error: `Send at least one of these fields: ${names.join(', ')}`,
    })
    .meta({ minProperties: 1 })
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
