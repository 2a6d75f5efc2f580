import { mutation, query, resource } from '@resource/openapi/contract'
import { z } from 'zod'
import { envelope } from './errors.ts'
import {
  choiceFilter,
  id,
  idempotencyKey,
  location,
  must,
  nullableTimestamp,
  recordId,
  text,
  textFilter,
  timestamp,
  writeHeaders,
} from './fields.ts'
import { listInput, pageFacts, pageHeaders, pageOf } from './pages.ts'
import { preview, previewed, requestOfWrite, writeToRun } from './previews.ts'
import { or } from './words.ts'

const DECISIONS = ['applied', 'rejected', 'withdrawn'] as const
const decision = z.enum(DECISIONS, must(or(DECISIONS)))
const status = z.enum(['open', ...DECISIONS, 'expired']).meta({ description: 'Only an open one can be applied.' })
const { changes, ...counts } = previewed

const summary = z
  .object({
    id,
    operation: z.string().meta({ description: 'The name of the procedure.', examples: ['items.update'] }),
    reason: z.string(),
    status,
    ...counts,
    proposer: z.string().meta({ description: 'As the `actor` of an audit entry.', examples: ['key 3'] }),
    decided_by: z.string().nullable().meta({ description: 'Who applied, rejected or withdrew it.' }),
    decided_at: nullableTimestamp,
    request_id: z.string().nullable().meta({ description: 'The request that applied it, which can be undone.' }),
    created_at: timestamp,
    expires_at: timestamp,
  })
  .meta({ id: 'ProposalSummary' })

const proposal = summary
  .extend({
    input: z.looseObject({}).meta({ description: 'The input of the procedure.' }),
    effect: preview.shape.effect,
    changes,
  })
  .meta({ id: 'Proposal' })

const proposalNow = proposal
  .extend({
    is_current: z.boolean().meta({ description: 'Whether applying it would do now exactly what it shows.' }),
    current_changes: changes.meta({ description: 'The first changes that it would make now; empty if it is closed.' }),
    obstacle: z.string().nullable().meta({ description: 'Why it cannot be applied now, if it is open.' }),
  })
  .meta({ id: 'CurrentProposal' })

const filters = {
  status: choiceFilter(status).optional(),
  proposer: textFilter.optional().meta({ description: 'Only those of this caller, such as `key 3`.' }),
  request_id: textFilter.toLowerCase().optional().meta({ description: 'Only the one that this request applied.' }),
}

export const proposals = resource({
  tag: 'Proposals',
  description: 'Writes that others decide on.',
  errorForm: envelope.error,
  lookup: 'get',
  procedures: {
    list: query({
      access: 'proposer',
      input: listInput(filters, ['id'], 'id_desc'),
      output: z.object({ proposals: z.array(summary), ...pageFacts }),
      meta: {
        openapi: {
          method: 'GET',
          path: '/api/proposals',
          operationId: 'listProposals',
          summary: 'List proposals',
          description: 'Newest first, without their inputs and changes.',
          successDescription: 'A page of proposals.',
          responseBody: 'proposals',
          response: pageOf(summary),
          envelope: 'proposals',
          headers: pageHeaders,
        },
      },
    }),

    get: query({
      access: 'proposer',
      input: z.object({ id: recordId }),
      output: proposalNow,
      errors: [404],
      meta: {
        openapi: {
          method: 'GET',
          path: '/api/proposals/{id}',
          operationId: 'getProposal',
          summary: 'Get a proposal',
          description: 'With what it showed when it was made, and what it would do now.',
          successDescription: 'The proposal.',
          response: proposalNow,
          envelope: 'proposal',
        },
      },
    }),

    create: mutation({
      access: 'proposer',
      input: z.object({
        ...writeToRun,
        reason: text(1, 1000).meta({ description: 'For those who decide.', examples: ['The supplier lowered it.'] }),
        idempotency_key: idempotencyKey,
      }),
      output: proposal,
      writesMany: true,
      errors: [404, 409, 412],
      meta: {
        openapi: {
          method: 'POST',
          path: '/api/proposals',
          operationId: 'createProposal',
          summary: 'Propose a write',
          description:
            'Stores what a preview of the write shows, for others to apply. Writes of collections and reversals can be proposed, but no passwords.',
          successDescription: 'The proposal.',
          status: 201,
          ...requestOfWrite,
          response: proposal,
          envelope: 'proposal',
          headers: location('/api/proposals/{id}'),
        },
      },
    }),

    setStatus: mutation({
      access: 'proposer',
      input: z.object({ id: recordId, status: decision, idempotency_key: idempotencyKey }),
      output: proposal,
      writesMany: true,
      errors: [404, 409, 412],
      errorData: { 412: preview },
      meta: {
        openapi: {
          method: 'PATCH',
          path: '/api/proposals/{id}',
          operationId: 'setProposalStatus',
          summary: 'Apply, reject or withdraw a proposal',
          description:
            'Applying needs the rights of the write and does exactly what the proposal shows; if it would do something else by now, the status is 412. Rejecting needs the role `writer`. Only the proposer can withdraw.',
          successDescription: 'The closed proposal.',
          response: proposal,
          envelope: 'proposal',
          headerParams: writeHeaders,
        },
      },
    }),
  },
})
