import { mutation, type Procedure } from '@resource/openapi/contract'
import { z } from 'zod'
import type { RestOf } from './declaration.ts'
import { idempotencyKey, isReadOnly, MAX_BODY_BYTES, many, must, recordId, rowVersion, writeHeaders } from './fields.ts'
import { pageOf } from './pages.ts'
import { or } from './words.ts'

export type Under<N extends string, S extends z.ZodType> = { [K in N]: S }

const partial = z
  .boolean(must('true or false'))
  .default(false)
  .meta({ description: 'Write every valid row and report the others, instead of all rows or none.' })

/** The fields of a row in an update of many records. */
function changedRow<F extends z.ZodRawShape>(fields: F) {
  return z.object(fields, must('an object')).partial().extend({ id: recordId.optional(), if_version: rowVersion })
}

// The unknown fields that an error lists at most.
const MAX_INVALID_FIELDS = 1000

const outcome = {
  status: z.int().meta({ description: 'The HTTP status of this row.', examples: [200] }),
  error: z.string().optional().meta({ description: 'What is wrong; absent on success.' }),
  fields: z
    .array(z.object({ field: z.string(), message: z.string() }).meta({ id: 'InvalidRowField' }))
    .max(MAX_INVALID_FIELDS)
    .optional()
    .meta({ description: 'The invalid fields and what each must be; absent if the error concerns no field.' }),
}

const changed = z.boolean().optional().meta({
  description: 'Whether the row changed its record; absent if it failed or created the record.',
})

function resultOf<R extends z.ZodType>(record: R) {
  return z.object({ ...outcome, changed, record: record.optional() })
}

/** The fields of a record that a row may have without effect, so that it can be a record that was read. */
function answered({ shape }: z.ZodObject): string[] {
  return Object.keys(shape).filter((name) => !isReadOnly(shape[name] as z.ZodType))
}

/** The body of a write of many records, and its answer. */
function resultsOf(noun: string, result: z.ZodType) {
  return {
    successDescription: 'The result of each row, in the order sent.',
    body: noun,
    responseBody: 'results',
    response: pageOf(result),
    envelope: 'results',
    headerParams: writeHeaders,
  }
}

// Not aliases of the types of the procedures: to compare two of those takes the compiler far longer.
export interface ManyProcedures<N extends string, F extends z.ZodRawShape, R extends z.ZodType, K extends string> {
  /** Changes many records: all or none, or with `partial` every valid row. A row names its record by `id` or by `key`. */
  updateMany: Procedure<
    'mutation',
    z.ZodObject<
      Under<N, z.ZodArray<ReturnType<typeof changedRow<F>>>> & {
        partial: typeof partial
        key: z.ZodOptional<z.ZodType<'id' | K, 'id' | K>>
        create: z.ZodDefault<z.ZodBoolean>
        idempotency_key: typeof idempotencyKey
      }
    >,
    z.ZodObject<{ results: z.ZodArray<ReturnType<typeof resultOf<R>>> }>
  >
}

interface ManyOptions {
  noun: string
  /** The capitalized noun. */
  Many: string
}

/**
 * The procedure that changes many records, each named by its id or by a unique field.
 *
 * @param One the capitalized singular noun
 * @param keys the unique fields
 */
export function updateMany<F extends z.ZodRawShape, R extends z.ZodObject, K extends string>(
  { noun, Many, One, fields, record, keys }: ManyOptions & { One: string; fields: F; record: R; keys: readonly K[] },
  rest: RestOf,
) {
  const row = changedRow(fields).meta({ id: `${One}Change` })
  const result = resultOf(record).meta({ id: `${One}Result` })
  const input = z.object({
    [noun]: many(row, noun),
    partial,
    key: z
      .enum(['id', ...keys], must(or(['id', ...keys])))
      .optional()
      .meta({ description: 'The field that names the record of each row; `id` by default.' }),
    create: z.boolean(must('true or false')).default(false).meta({
      description:
        'Create a record for each row without a key, or with a unique key that no record has. An `id` that no record has is an error.',
    }),
    idempotency_key: idempotencyKey,
  })
  return mutation({
    input,
    output: z.object({ results: z.array(result) }),
    errors: [404, 409, 412],
    ...rest('updateMany', {
      method: 'PATCH',
      path: '/bulk',
      operationId: `update${Many}`,
      summary: `Update many ${noun}`,
      description: `Changes the fields that each of 1 to 1,000 rows has: all rows or none, or with \`partial=true\` every valid row. A row that changes nothing keeps its version.`,
      bodyLimit: MAX_BODY_BYTES,
      ...resultsOf(noun, result),
    }),
    rows: {
      field: noun,
      partial: 'partial',
      changes: { fields: Object.keys(fields), key: 'key', answered: answered(record) },
    },
  })
}
