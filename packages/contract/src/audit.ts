import { query, resource } from '@resource/openapi/contract'
import { factsOf } from '@resource/openapi/schema'
import { z } from 'zod'
import { envelope } from './errors.ts'
import { idUpTo, momentBound, must, id as recordId, requestGroup, requestId, textFilter, timestamp } from './fields.ts'
import { listInput, pageFacts, pageHeaders, pageOf } from './pages.ts'
import { or } from './words.ts'
import { audited } from './writable.ts'

const idRule = must('a whole number, 1 or more')
const id = z
  .int(idRule)
  .min(1, idRule)
  .meta({ description: 'Increases with each entry.', examples: [7] })

const shown = Object.values(audited).flatMap(({ procedures }) => Object.values<z.ZodType>(procedures.get.output.shape))
// The OpenAPI document lists boolean values only if a resource has a boolean field.
const values = [
  z.string(),
  z.number(),
  z.null(),
  ...(shown.some((field) => factsOf(field).type === 'boolean') ? [z.boolean()] : []),
]
/** A record before or after a change; null if there is none. */
export const recordAtChange = z.record(z.string(), z.union(values)).nullable()

const entry = z
  .object({
    id,
    at: timestamp,
    actor: z.string().meta({
      description:
        'Who made the change: `key <id>` for an API key, `subject <subject>` for a token, `anonymous`, or `local` for direct access to the database.',
      examples: ['key 3'],
    }),
    actor_detail: z
      .string()
      .nullable()
      .meta({ description: 'The name of the API key, the issuer of the token, or the operating-system user.' }),
    proposed_by: z
      .string()
      .nullable()
      .meta({ description: 'Who proposed the change that the actor applied; null for any other change.' }),
    procedure: z.string().meta({ examples: ['users.update'] }),
    resource: z.string().meta({ examples: ['users'] }),
    record_id: recordId.meta({ description: 'The id of the record.', examples: [5] }),
    before: recordAtChange.meta({
      description: 'The record before the change, without secrets; null for a new record.',
      examples: [{ id: 5, name: 'Ada', version: 1 }],
    }),
    after: recordAtChange.meta({
      description:
        'The record after the change, without secrets; null for a deleted record. `password` is `set` if the change set one.',
      examples: [{ id: 5, name: 'Ada L.', password: 'set', version: 2 }],
    }),
    is_damaged: z.boolean().optional().meta({
      description: 'True if the entry was damaged outside the service. A record that cannot be read is null.',
    }),
    request_id: z.string().nullable().meta({ description: 'The id of the request, as in the log.' }),
    address: z.string().nullable().meta({ description: 'The IP address of the client.' }),
    group: z.string().nullable().meta({ description: 'The `X-Request-Group` of the request.' }),
    reverses: z.string().nullable().meta({ description: 'The id of the request that this one undoes.' }),
  })
  .meta({ id: 'AuditEntry' })

const CHANGES = ['created', 'updated', 'deleted'] as const

const nouns = Object.keys(audited).map((noun) => `\`${noun}\``)

const filters = {
  resource: textFilter.optional().meta({ description: `Only changes to this resource: ${or(nouns)}.` }),
  record_id: recordId.optional().meta({ description: 'Only changes to records with this id.' }),
  actor: textFilter.optional().meta({ description: 'Only changes by this actor, such as `key 3`.' }),
  procedure: textFilter.optional().meta({ description: 'Only changes by this procedure, such as `users.update`.' }),
  change: z
    .enum(CHANGES, must(or(CHANGES)))
    .optional()
    .meta({ description: 'Only entries of records that were created, updated or deleted.' }),
  request_id: requestId.optional().meta({ description: 'Only changes by this request.' }),
  group: requestGroup.optional().meta({ description: 'Only changes by requests with this `X-Request-Group`.' }),
  at_gte: momentBound.gte.optional().meta({ description: 'Only entries at or after this time.' }),
  at_lt: momentBound.lt.optional().meta({ description: 'Only entries before this time.' }),
}

export const audit = resource({
  tag: 'Audit',
  description:
    'The audit log: who changed which record and when, with the record before and after the change. Only writes create entries.',
  errorForm: envelope.error,
  procedures: {
    list: query({
      access: 'admin',
      input: listInput(filters, ['id'], 'id_desc'),
      output: z.object({ audit: z.array(entry), ...pageFacts }),
      meta: {
        openapi: {
          method: 'GET',
          path: '/api/audit',
          operationId: 'listAuditEntries',
          summary: 'List audit entries',
          description: 'Newest first. A write adds one entry for each record that it creates, changes or deletes.',
          successDescription: 'A page of entries.',
          responseBody: 'audit',
          response: pageOf(entry),
          envelope: 'entries',
          headers: pageHeaders,
        },
      },
    }),

    get: query({
      access: 'admin',
      input: z.object({ id: idUpTo(Number.MAX_SAFE_INTEGER) }),
      output: entry,
      errors: [404],
      meta: {
        openapi: {
          method: 'GET',
          path: '/api/audit/{id}',
          operationId: 'getAuditEntry',
          summary: 'Get an audit entry',
          description: 'Who made the change and when, with the record before and after it.',
          successDescription: 'The entry.',
          response: entry,
          envelope: 'entry',
        },
      },
    }),
  },
})
