import { mutation, resource } from '@resource/openapi/contract'
import { z } from 'zod'
import { envelope } from './errors.ts'
import { idempotencyKey, must, writeHeaders } from './fields.ts'

const requestIdRule = must('the X-Request-Id of the answer to a write')
const count = z.int().min(0)

const reversal = z
  .object({
    request_id: z.string().meta({ description: 'The id of the request that was undone.' }),
    restored: count.meta({ description: 'The number of deleted records that are back.' }),
    updated: count.meta({ description: 'The number of changes that were undone.' }),
    deleted: count.meta({ description: 'The number of created records that are gone.' }),
  })
  .meta({ id: 'Reversal' })

export const reversals = resource({
  tag: 'Reversals',
  description: 'Undoes what a request has done.',
  errorForm: envelope.error,
  procedures: {
    create: mutation({
      access: 'writer',
      input: z.object({
        request_id: z
          .uuidv7(requestIdRule)
          .max(36, requestIdRule)
          .meta({
            description: 'The `X-Request-Id` of the answer to the write.',
            examples: ['01989f2e-6a00-7c3e-8a51-3f0f4d1c9b20'],
          }),
        idempotency_key: idempotencyKey,
      }),
      output: reversal,
      writesMany: true,
      errors: [404, 409, 412],
      meta: {
        openapi: {
          method: 'POST',
          path: '/api/reversals',
          operationId: 'createReversal',
          summary: 'Undo a request',
          description:
            'Undoes all changes of a request, or none. Deleted records come back with their ids, created ones go, changed fields get their former values. If a field has changed since, the status is 412. It needs the rights of the inverse. A reversal can be previewed and undone as any write. Changes of keys cannot be undone.',
          successDescription: 'What was undone.',
          status: 201,
          response: reversal,
          envelope: 'reversal',
          headerParams: writeHeaders,
        },
      },
    }),
  },
})
