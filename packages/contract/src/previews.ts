import { mutation, resource } from '@resource/openapi/contract'
import { z } from 'zod'
import { recordAtChange } from './audit.ts'
import { envelope } from './errors.ts'
import { count, idempotencyKey, MAX_BODY_BYTES, must, text, writeHeaders } from './fields.ts'

const step = z
  .object({
    id_gte: z.int(),
    id_lt: z.int(),
    count: count.meta({ description: 'The number of records that the step would change or delete.' }),
    effect: z.string().meta({ description: 'The `effect` of the step.' }),
  })
  .meta({ id: 'PreviewedStep' })

/** What a preview shows of a write: how many records it would write, and the first of them. */
export const previewed = {
  created: count.meta({ description: 'The number of records that the write would create.' }),
  updated: count.meta({ description: 'The number of records that it would change.' }),
  deleted: count.meta({ description: 'The number of records that it would delete.' }),
  changes: z
    .array(
      z
        .object({
          resource: z.string().meta({ examples: ['items'] }),
          id: z.int().nullable().meta({ description: 'The id of the record; null for a new one.' }),
          before: recordAtChange.meta({ description: 'The record before the change; null for a new one.' }),
          after: recordAtChange.meta({
            description:
              'The record after the change; null for a deleted one. A new record lacks the fields that the service assigns. `password` is `set` if the change sets one.',
          }),
        })
        .meta({ id: 'PreviewedChange' }),
    )
    .max(100)
    .meta({ description: 'The first changes, at most 100.' }),
}

export const preview = z
  .object({
    effect: z
      .string()
      .meta({ description: 'Identifies exactly these changes: send it with the write as `If-Effect`.' }),
    ...previewed,
    steps: z.array(step).max(1_000).optional().meta({
      description:
        'If more than 10,000 records match: the writes to send instead, one after another, each with its range of ids and its effect.',
    }),
  })
  .meta({ id: 'Preview' })

/** A write and its input, as previews and proposals take them. */
export const writeToRun = {
  operation: text(1, 200).meta({
    description: 'The `operationId` of the write, or the name of its procedure.',
    examples: ['items.update'],
  }),
  input: z
    .looseObject({}, must('an object'))
    .default({})
    .meta({ description: "The procedure's input, as over tRPC.", examples: [{ id: 7, price: 30 }] }),
}

/** The parts of a REST binding that follow from a write in the body. */
export const requestOfWrite = { bodyLimit: MAX_BODY_BYTES, headerParams: writeHeaders } as const

export const previews = resource({
  tag: 'Previews',
  description: 'What a write would do, without doing it.',
  errorForm: envelope.error,
  procedures: {
    create: mutation({
      access: 'proposer',
      input: z.object({ ...writeToRun, idempotency_key: idempotencyKey }),
      output: preview,
      writesMany: true,
      errors: [404, 409, 412],
      meta: {
        openapi: {
          method: 'POST',
          path: '/api/previews',
          operationId: 'createPreview',
          summary: 'Preview a write',
          description:
            'Returns what a write would do, after all its checks, and changes nothing. It needs the rights of the write, but for a `proposer`, who previews what can be proposed as a proposal shows it, with all rights. With the `effect` as `If-Effect`, the write does exactly that, or nothing. An effect binds neither passwords nor times.',
          successDescription: 'What the write would do.',
          ...requestOfWrite,
          response: preview,
          envelope: 'preview',
        },
      },
    }),
  },
})
