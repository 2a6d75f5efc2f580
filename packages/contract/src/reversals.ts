import { mutation, query, resource } from '@resource/openapi/contract'
import { z } from 'zod'
import { envelope } from './errors.ts'
import { count, idempotencyKey, requestGroup, requestId, timestamp, writeHeaders } from './fields.ts'

const reversal = z
  .object({
    request_id: z.string().meta({ description: 'The id of the request that was undone.' }),
    restored: count.meta({ description: 'The number of deleted records that are back.' }),
    updated: count.meta({ description: 'The number of changed records that have their former values.' }),
    deleted: count.meta({ description: 'The number of created records that are gone.' }),
  })
  .meta({ id: 'Reversal' })

/** The most requests that a list of a group has. */
const MAX_LISTED = 1_000

const open = z
  .object({
    requests: z
      .array(
        z
          .object({
            request_id: z.string(),
            at: timestamp,
            changes: count.meta({ description: 'The number of its changes.' }),
          })
          .meta({ id: 'ReversibleRequest' }),
      )
      .max(MAX_LISTED)
      .meta({ description: 'Newest first, at most 1,000.' }),
    total: count.meta({ description: 'The number of all such requests.' }),
    group: z
      .string()
      .meta({ description: 'The `X-Request-Group` for their reversals, which can then be undone together.' }),
  })
  .meta({ id: 'ReversibleGroup' })

export const reversals = resource({
  tag: 'Reversals',
  description: 'Undoes what a request has done.',
  errorForm: envelope.error,
  procedures: {
    open: query({
      access: 'reader',
      input: z.object({
        group: requestGroup.meta({
          description: 'The `X-Request-Group` of the requests.',
          examples: ['0198a1c4-7d52-7b0e-9c3f-5a2f8e6b1d07'],
        }),
      }),
      output: open,
      meta: {
        openapi: {
          method: 'GET',
          path: '/api/reversals',
          operationId: 'listReversibleRequests',
          summary: 'List the requests of a group that can be undone',
          description: 'The requests with changes that no reversal has undone. Undo them one by one, newest first.',
          successDescription: 'The requests.',
          response: open,
          envelope: 'group',
        },
      },
    }),

    create: mutation({
      access: 'writer',
      input: z.object({
        request_id: requestId.meta({
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
