import { query, resource } from '@resource/openapi/contract'
import { z } from 'zod'
import { recordAtChange } from './audit.ts'
import type { CollectionFacts } from './declaration.ts'
import { envelope } from './errors.ts'
import { must, id as recordId, timestamp, version, whole } from './fields.ts'
import { limitOf, pageOf } from './pages.ts'
import { or } from './words.ts'
import { writable } from './writable.ts'

type Writable = typeof writable
type Collections = {
  [N in keyof Writable]: Writable[N] extends { collection: CollectionFacts } ? N : never
}[keyof Writable]

const isCollection = (noun: keyof Writable): noun is Collections => 'collection' in writable[noun]
const nouns = (Object.keys(writable) as (keyof Writable)[]).filter(isCollection)

const cursorRule = must('a cursor of the feed')
const cursor = z
  .string(cursorRule)
  .max(25, cursorRule)
  .regex(/^(?:0-0|[1-9]\d{0,14}-[\da-z]{1,9})$/, cursorRule)
  .meta({ examples: ['42-mi5k3w8q'], description: 'A position in the feed.' })

const listRule = must('a list of 1 to 100 resources')

const change = z
  .object({
    cursor: cursor.meta({ description: 'The position after this change.' }),
    type: z.string().meta({
      description: 'The resource and what happened: `created`, `updated` or `deleted`.',
      examples: ['items.updated'],
    }),
    at: timestamp,
    resource: z.string().meta({ examples: ['items'] }),
    record_id: recordId.meta({ description: 'The id of the record.', examples: [7] }),
    version: version.meta({
      description: 'The version of the record. Of a deleted record the last one, which no later change has.',
      examples: [3],
    }),
    record: recordAtChange.meta({
      description: 'The record after the change, as its operation `get` returns it; null if it was deleted.',
      examples: [{ id: 7, name: 'Lamp', price: 24.5, version: 3 }],
    }),
  })
  .meta({ id: 'Change' })

const page = z
  .object({
    changes: pageOf(change),
    cursor: cursor.meta({
      description:
        'The position after all changes that were examined, for `after`. It is the one sent if there are no later changes.',
    }),
  })
  .meta({ id: 'ChangePage' })

export const changes = resource({
  tag: 'Changes',
  description: 'Every change of the records, in order and without gaps, to be continued from any position.',
  errorForm: envelope.error,
  procedures: {
    list: query({
      access: 'reader',
      input: z
        .strictObject({
          after: cursor
            .optional()
            .meta({ description: 'Only changes after this position. Without it, changes from now on.' }),
          last_event_id: cursor.optional().meta({
            description: 'The same as `after`, which it replaces. Event sources send it when they reconnect.',
          }),
          resources: z
            .array(z.enum(nouns, must(or(nouns))), listRule)
            .min(1, listRule)
            .max(100, listRule)
            .optional()
            .meta({
              description: 'Only changes of these resources; by default, of all that the caller may read.',
              param: { style: 'form', explode: false },
            }),
          record_id: recordId
            .optional()
            .meta({ description: 'Only changes of the record with this id. Requires exactly one resource.' }),
          limit: limitOf('Changes', 100),
          wait: whole(0, 25)
            .default(0)
            .meta({ description: 'How many seconds to wait for a change if there is none.' }),
        })
        .refine((input) => input.record_id === undefined || input.resources?.length === 1, {
          path: ['record_id'],
          error: 'requires exactly one of the resources: the one that the record belongs to',
        }),
      output: page,
      errors: [410],
      meta: {
        openapi: {
          method: 'GET',
          path: '/api/changes',
          operationId: 'listChanges',
          summary: 'List changes',
          description:
            'Oldest first. Send the `cursor` of an answer as `after` of the next request. A list of records has a position in `X-Changes-Cursor`: its pages and the changes after that position give an exact copy. A 410 means that changes were lost, because they were deleted (`cursor_expired`) or the database was restored (`cursor_reset`): read the list again.',
          successDescription: 'The changes.',
          response: page,
          headerParams: { 'Last-Event-ID': 'last_event_id' },
          stream: {
            mediaType: 'text/event-stream',
            description:
              'Server-sent events, as long as the client stays. `change` has a change as `data`. `position`, the first event, has a position after changes that do not match. Both have the cursor as `id`, from which an event source continues. `reset` is the last event: changes were lost, for the `reason` of a 410.',
            example: `retry: 1000
event: position
id: 41-mi5k3w7z
data: {"cursor":"41-mi5k3w7z"}

event: change
id: 42-mi5k3w8q
data: {"cursor":"42-mi5k3w8q","type":"items.updated","at":"2026-11-21T08:30:00.000Z","resource":"items","record_id":7,"version":3,"record":{"id":7,"name":"Lamp","price":24.5,"version":3}}

`,
            // Proxies such as nginx would otherwise collect events before they pass them on.
            headers: { 'Cache-Control': 'no-store, no-transform', 'X-Accel-Buffering': 'no' },
          },
        },
      },
    }),
  },
})
