import { mutation, query, ROLES, resource } from '@resource/openapi/contract'
import { z } from 'zod'
import { envelope } from './errors.ts'
import {
  id,
  idempotencyKey,
  location,
  message,
  moment,
  must,
  recordId,
  stale,
  text,
  timestamp,
  version,
  write,
  writeHeaders,
} from './fields.ts'
import { listInput, pageFacts, pageHeaders, pageOf } from './pages.ts'

const role = z.enum(ROLES, must(ROLES.join(', '))).meta({
  description: '`reader` reads, `writer` also writes, `admin` also removes in bulk and manages keys.',
})

const key = z
  .object({
    id,
    name: z.string().meta({ description: 'Whom or what it is for.' }),
    role,
    prefix: z.string().meta({ description: 'How it begins; the rest is stored as a hash alone.' }),
    created_at: timestamp,
    expires_at: timestamp.nullable(),
    revoked_at: timestamp.nullable(),
    last_used_at: timestamp.nullable().meta({ description: 'To the minute.' }),
  })
  .meta({ id: 'Key' })

const versioned = key.extend({ version }).meta({ id: 'VersionedKey' })
const secret = z.string().meta({ description: 'The key itself, shown this once.' })

export const keys = resource({
  tag: 'Keys',
  description: 'API keys: who may call the service, sent as `Authorization: Bearer`.',
  errorForm: envelope.error,
  lookup: 'get',
  procedures: {
    /** List keys. Revoked and expired ones too, never the keys themselves. */
    list: query({
      access: 'admin',
      input: listInput({}, ['id']),
      output: z.object({ keys: z.array(versioned), ...pageFacts }),
      meta: {
        openapi: {
          method: 'GET',
          path: '/api/keys',
          operationId: 'listKeys',
          summary: 'List keys',
          description: 'Revoked and expired ones too, never the keys themselves.',
          successDescription: 'A page of keys.',
          responseBody: 'keys',
          response: pageOf(key),
          envelope: 'keys',
          headers: pageHeaders,
        },
      },
    }),

    /** Get a key. What is stored of it, not the key itself. */
    get: query({
      access: 'admin',
      input: z.object({ id: recordId }),
      output: versioned,
      errors: [404],
      meta: {
        openapi: {
          method: 'GET',
          path: '/api/keys/{id}',
          operationId: 'getKey',
          summary: 'Get a key',
          description: 'What is stored of it, not the key itself.',
          successDescription: 'The key.',
          response: key,
          envelope: 'key',
          etag: 'version',
        },
      },
    }),

    /** Create a key. The answer holds the key itself, this once. */
    create: mutation({
      access: 'admin',
      input: z.object({
        name: text(1, 200).meta({ description: 'Whom or what it is for.', examples: ['nightly import'] }),
        role,
        expires_at: moment.nullable().default(null).meta({ description: 'Until when it holds; null is for ever.' }),
        idempotency_key: idempotencyKey,
      }),
      output: versioned.extend({ key: secret }),
      errors: [409],
      meta: {
        openapi: {
          method: 'POST',
          path: '/api/keys',
          operationId: 'createKey',
          summary: 'Create a key',
          description: 'The answer holds the key itself, this once.',
          successDescription: 'The created key.',
          status: 201,
          response: key.extend({ key: secret }).meta({ id: 'CreatedKey' }),
          envelope: 'key',
          etag: 'version',
          headerParams: writeHeaders,
          headers: location('/api/keys/{id}'),
        },
      },
    }),

    /** Revoke a key. It is refused from now on, and stays in the list. */
    revoke: mutation({
      access: 'admin',
      input: z.object({ id: recordId, ...write }),
      output: message,
      errors: [404, 409],
      errorData: stale,
      meta: {
        openapi: {
          method: 'DELETE',
          path: '/api/keys/{id}',
          operationId: 'revokeKey',
          summary: 'Revoke a key',
          description: 'It is refused from now on, and stays in the list.',
          successDescription: 'The key is refused from now on.',
          headerParams: writeHeaders,
          ifMatch: 'if_version',
        },
      },
    }),
  },
})
