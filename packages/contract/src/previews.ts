import { mutation, resource } from '@resource/openapi/contract'
import { z } from 'zod'
import { recordAtChange } from './audit.ts'
import { envelope } from './errors.ts'
import { idempotencyKey, must, text, writeHeaders } from './fields.ts'

const count = z.int().min(0)

const preview = z
  .object({
    effect: z.string().meta({
      description: 'Identifies exactly these changes. Send it with the write as `If-Effect`.',
      examples: ['jTf0m5rVqyQ0zJ4Jm2d5l9u0Q1n2b7xk3sC6w8aYtEo'],
    }),
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
                'The record after the change, at the time of the preview; null for a deleted one. A new record is without the fields that the service assigns. `password` is `set` if the change sets one.',
            }),
          })
          .meta({ id: 'PreviewedChange' }),
      )
      .max(100)
      .meta({ description: 'The first changes, at most 100.' }),
  })
  .meta({ id: 'Preview' })

export const previews = resource({
  tag: 'Previews',
  description: 'What a write would do, without doing it.',
  errorForm: envelope.error,
  procedures: {
    create: mutation({
      access: 'reader',
      input: z.object({
        operation: text(1, 200).meta({
          description: 'The `operationId` of the write, or the name of its procedure.',
          examples: ['items.update'],
        }),
        input: z
          .looseObject({}, must('an object'))
          .default({})
          .meta({ description: "The procedure's input, as over tRPC.", examples: [{ id: 7, price: 30 }] }),
        idempotency_key: idempotencyKey,
      }),
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
            'Runs a write with all its checks, undoes it, and returns what it would do. It needs the rights of the write. Sent with the `effect` as `If-Effect`, the write does exactly that, or nothing. An effect binds neither the values of hidden fields, such as passwords, nor times. Ids may be skipped on PostgreSQL.',
          successDescription: 'What the write would do.',
          bodyLimit: 4 * 1024 * 1024,
          response: preview,
          envelope: 'preview',
          headerParams: writeHeaders,
        },
      },
    }),
  },
})
