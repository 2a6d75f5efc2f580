import { query, resource } from '@resource/openapi/contract'
import { z } from 'zod'
import { envelope } from './errors.ts'
import { idUpTo, moment, must, id as recordId, textFilter, timestamp } from './fields.ts'
import { listInput, pageFacts, pageHeaders, pageOf } from './pages.ts'
import { written } from './written.ts'

const idRule = must('a whole number, 1 or more')
const id = z
  .int(idRule)
  .min(1, idRule)
  .meta({ description: 'Grows from entry to entry.', examples: [7] })

const shown = Object.values(written).flatMap(({ procedures }) => Object.values<z.ZodType>(procedures.get.output.shape))
const isBoolean = (field: z.ZodType): boolean =>
  field instanceof z.ZodBoolean || (field instanceof z.ZodNullable && isBoolean(field.unwrap() as z.ZodType))
// The document names boolean values only where some record has one.
const values = [z.string(), z.number(), z.null(), ...(shown.some(isBoolean) ? [z.boolean()] : [])]
const record = z.record(z.string(), z.union(values)).nullable()

const entry = z
  .object({
    id,
    at: timestamp,
    actor: z.string().meta({
      description:
        'Who wrote: `key 3`, `subject ` and the subject of a token, `anonymous`, or `local` for who reached the database past the service.',
      examples: ['key 3'],
    }),
    actor_detail: z
      .string()
      .nullable()
      .meta({ description: 'The name of the key, the issuer of the token, or the user of the machine.' }),
    procedure: z.string().meta({ examples: ['users.update'] }),
    resource: z.string().meta({ examples: ['users'] }),
    record_id: recordId.meta({ description: 'The id of the record.', examples: [5] }),
    before: record.meta({
      description: 'The record before, without secrets; null where there was none.',
      examples: [{ id: 5, name: 'Ada', version: 1 }],
    }),
    after: record.meta({
      description:
        'The record since, without secrets; null where there is none. `password` is `set` if it was written.',
      examples: [{ id: 5, name: 'Ada L.', password: 'set', version: 2 }],
    }),
    request_id: z.string().nullable().meta({ description: 'Of the request, as in the log.' }),
    address: z.string().nullable().meta({ description: 'Where the request came from.' }),
  })
  .meta({ id: 'AuditEntry' })

const nouns = Object.keys(written).map((noun) => `\`${noun}\``)

const filters = {
  resource: textFilter
    .optional()
    .meta({ description: `Only changes of this resource: ${nouns.slice(0, -1).join(', ')} or ${nouns.at(-1)}.` }),
  record_id: recordId.optional().meta({ description: 'Only changes of records with this id.' }),
  actor: textFilter.optional().meta({ description: 'Only what this actor wrote, such as `key 3`.' }),
  procedure: textFilter.optional().meta({ description: 'Only what this procedure wrote, such as `users.update`.' }),
  at_gte: moment.optional().meta({ description: 'Only entries of this time or later.' }),
  at_lt: moment.optional().meta({ description: 'Only entries before this time.' }),
}

export const audit = resource({
  tag: 'Audit',
  description: 'Who changed which record, when, and how it was before and after. Entries are made by the writes alone.',
  errorForm: envelope.error,
  procedures: {
    /** List audit entries. Newest first; one entry for each record that a write made, changed or removed. */
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
          description: 'Newest first; one entry for each record that a write made, changed or removed.',
          successDescription: 'A page of entries.',
          responseBody: 'audit',
          response: pageOf(entry),
          envelope: 'entries',
          headers: pageHeaders,
        },
      },
    }),

    /** Get an audit entry. Who wrote, when, and the record before and after. */
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
          description: 'Who wrote, when, and the record before and after.',
          successDescription: 'The entry.',
          response: entry,
          envelope: 'entry',
        },
      },
    }),
  },
})
