import { mutation, query, resource } from '@resource/openapi/contract'
import { z } from 'zod'
import { envelope } from './errors.ts'
import { id, idempotencyKey, message, recordId, timestamp, writeHeaders } from './fields.ts'
import { listInput, pageFacts, pageHeaders, pageOf } from './pages.ts'
import { ROLES } from './roles.ts'

const session = z
  .object({
    id,
    actor: z.string().meta({ description: 'Who logged in, as the `actor` of an audit entry.', examples: ['key 3'] }),
    actor_detail: z.string().meta({ description: 'The name of the API key, or the issuer of the subject.' }),
    role: z.enum(ROLES),
    address: z.string().nullable().meta({ description: 'The IP address at the login.' }),
    browser: z
      .string()
      .nullable()
      .meta({ description: 'The browser and its system.', examples: ['Firefox on Linux'] }),
    created_at: timestamp,
    last_used_at: timestamp.meta({ description: 'To the minute.' }),
    expires_at: timestamp.meta({ description: 'When it ends, however much it is used.' }),
  })
  .meta({ id: 'Session' })

const listed = session
  .extend({ current: z.boolean().meta({ description: 'Whether this request belongs to the session.' }) })
  .meta({ id: 'ListedSession' })

export const sessions = resource({
  tag: 'Sessions',
  description: 'Logins to the console. Administrators see those of everybody, others their own.',
  errorForm: envelope.error,
  lookup: 'get',
  procedures: {
    list: query({
      access: 'reader',
      input: listInput({}, ['id'], 'id_desc'),
      output: z.object({ sessions: z.array(listed), ...pageFacts }),
      meta: {
        openapi: {
          method: 'GET',
          path: '/api/sessions',
          operationId: 'listSessions',
          summary: 'List sessions',
          description: 'Newest first, without those that have ended.',
          successDescription: 'A page of sessions.',
          responseBody: 'sessions',
          response: pageOf(listed),
          envelope: 'sessions',
          headers: pageHeaders,
        },
      },
    }),

    get: query({
      access: 'reader',
      input: z.object({ id: recordId }),
      output: session,
      errors: [404],
      meta: {
        openapi: {
          method: 'GET',
          path: '/api/sessions/{id}',
          operationId: 'getSession',
          summary: 'Get a session',
          description: 'Who logged in, when and where.',
          successDescription: 'The session.',
          response: session,
          envelope: 'session',
        },
      },
    }),

    end: mutation({
      access: 'reader',
      input: z.object({ id: recordId, idempotency_key: idempotencyKey }),
      output: message,
      errors: [404],
      meta: {
        openapi: {
          method: 'DELETE',
          path: '/api/sessions/{id}',
          operationId: 'endSession',
          summary: 'End a session',
          description: 'Its cookie is refused within a second, and its open streams close.',
          successDescription: 'The session has ended.',
          headerParams: writeHeaders,
        },
      },
    }),
  },
})
