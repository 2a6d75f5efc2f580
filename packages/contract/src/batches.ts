import { mutation, type Procedure, query } from '@resource/openapi/contract'
import { z } from 'zod'
import type { RestOf } from './declaration.ts'
import { idempotencyKey, location, must, recordId, timestamp, withValueRoles, writeHeaders } from './fields.ts'
import type { Role } from './roles.ts'

const SAMPLE = 5

const batchId = { batch_id: recordId.meta({ description: 'The id of the batch.', examples: [7] }) }

function batchOf<R extends z.ZodType>(record: R) {
  return z.object({
    id: z.int(),
    action: z.enum(['update', 'delete']),
    status: z.enum(['pending', 'applied']),
    count: z.int().min(0).meta({ description: 'The number of matching records.' }),
    filter: z.looseObject({}).meta({ description: 'The filter, as it was sent.' }),
    changes: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'The new values; absent for a deletion.' }),
    sample: z
      .array(record)
      .max(SAMPLE)
      .meta({ description: `The first records that match now, at most ${SAMPLE}; empty once the batch is applied.` }),
    created_at: timestamp,
    expires_at: timestamp.meta({ description: 'From then on the batch no longer exists.' }),
  })
}

const action = z.enum(['update', 'delete'], must('update or delete'))

function batchInput<L extends z.ZodRawShape, F extends z.ZodRawShape>(filters: L, fields: z.ZodObject<F>) {
  return {
    action,
    filter: z.strictObject(filters, must('an object')),
    changes: fields.optional(),
    idempotency_key: idempotencyKey,
  }
}

function actionOf(changer: Role, remover: Role | undefined) {
  if (remover === undefined) return z.enum(['update'], must('update'))
  return remover === changer ? action : withValueRoles({ delete: remover }, action)
}

const applied = {
  status: z.literal('applied', must('applied')),
  idempotency_key: idempotencyKey,
}

/** The procedures that change or delete all matching records, after a preview. */
export interface BatchProcedures<L extends z.ZodRawShape, F extends z.ZodRawShape, R extends z.ZodType> {
  /** Previews a change of all matching records. It is not carried out until the batch is applied. */
  createBatch: Procedure<'mutation', z.ZodObject<ReturnType<typeof batchInput<L, F>>>, ReturnType<typeof batchOf<R>>>
  /** Gets a batch. Only its creator can see it. */
  getBatch: Procedure<'query', z.ZodObject<typeof batchId>, ReturnType<typeof batchOf<R>>>
  /** Carries out a batch, if the records that match are still those of the preview. */
  applyBatch: Procedure<'mutation', z.ZodObject<typeof batchId & typeof applied>, ReturnType<typeof batchOf<R>>>
}

interface BatchOptions<L extends z.ZodRawShape, F extends z.ZodRawShape, R extends z.ZodType> {
  noun: string
  One: string
  /** The path of the collection, without a trailing slash. */
  base: string
  filters: L
  /** The fields that a batch can set. */
  fields: z.ZodObject<F>
  record: R
  /** The role that changes records. */
  changer: Role
  /** The role that deletes records; undefined if they cannot be deleted. */
  remover: Role | undefined
}

export function batches<L extends z.ZodRawShape, F extends z.ZodRawShape, R extends z.ZodType>(
  { noun, One, base, filters, fields, record, changer, remover }: BatchOptions<L, F, R>,
  rest: RestOf,
) {
  const batch = batchOf(record).meta({ id: `${One}Batch` })
  const input = batchInput(filters, fields)
  const single = { response: batch, envelope: 'batch' }
  const path = '/batches/{batch_id}' as const
  return {
    createBatch: mutation({
      input: z
        .object({
          ...input,
          action: actionOf(changer, remover),
          filter: input.filter.meta({
            id: `${One}Filter`,
            description: `Which ${noun}: the filters of the list. Empty for all.`,
          }),
        })
        .refine(
          ({ action, changes }) =>
            action === 'update' ? Object.keys(changes ?? {}).length > 0 : changes === undefined,
          {
            path: ['changes'],
            error: 'must have at least one field with the action update, and be absent with delete',
          },
        ),
      output: batch,
      errors: [409],
      ...rest('createBatch', {
        ...single,
        method: 'POST',
        path: '/batches',
        operationId: `create${One}Batch`,
        summary: `Preview a change of all matching ${noun}`,
        description: `Finds the ${noun} that match, at most 20,000, and changes none of them. Apply the batch within 10 minutes.`,
        successDescription: 'The batch, with the number of matching records and a sample.',
        status: 201,
        headerParams: writeHeaders,
        headers: location(`${base}/batches/{id}`),
      }),
    }),
    getBatch: query({
      input: z.object(batchId),
      output: batch,
      errors: [404],
      ...rest('getBatch', {
        ...single,
        method: 'GET',
        path,
        operationId: `get${One}Batch`,
        summary: `Get a batch of ${noun}`,
        description: 'Only its creator can see a batch.',
        successDescription: 'The batch.',
      }),
    }),
    applyBatch: mutation({
      input: z.object({ ...batchId, ...applied }),
      output: batch,
      errors: [404, 409, 412],
      lookup: 'getBatch',
      ...rest('applyBatch', {
        ...single,
        method: 'PATCH',
        path,
        operationId: `apply${One}Batch`,
        summary: `Apply a batch of ${noun}`,
        description:
          'Changes exactly the records of the preview. If other records match by now, or one of them has changed, it changes nothing and returns 412.',
        successDescription: 'The applied batch.',
        headerParams: writeHeaders,
      }),
    }),
  }
}
