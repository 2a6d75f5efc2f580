import { mutation, query, resource } from '@resource/openapi/contract'
import { z } from 'zod'
import { envelope } from './errors.ts'
import {
  id,
  idempotencyKey,
  location,
  message,
  moment,
  must,
  nullableTimestamp,
  recordId,
  stale,
  text,
  timestamp,
  version,
  write,
  writeHeaders,
} from './fields.ts'
import { listInput, pageFacts, pageHeaders, pageOf } from './pages.ts'
import { ROLES } from './roles.ts'

const role = z.enum(ROLES, must(ROLES.join(', '))).meta({
  description:
    '`reader` can read. `proposer` can also propose writes. `writer` can also write. `admin` can also delete in bulk and manage keys.',
})

const key = z
  .object({
    id,
    name: z.string().meta({ description: 'Who or what uses the key.' }),
    role,
    prefix: z.string().meta({ description: 'The first characters of the key. The rest is stored only as a hash.' }),
    created_at: timestamp,
    expires_at: nullableTimestamp,
    revoked_at: nullableTimestamp,
    last_used_at: nullableTimestamp.meta({ description: 'When the key was last used, to the minute.' }),
  })
  .meta({ id: 'Key' })

const versioned = key.extend({ version }).meta({ id: 'VersionedKey' })
const secret = z.string().meta({ description: 'The key itself. It is shown only once.' })

export const keys = resource({
  tag: 'Keys',
  description: 'API keys give clients access to the service. Clients send them as `Authorization: Bearer`.',
  errorForm: envelope.error,
  lookup: 'get',
  procedures: {
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
          description: 'Includes revoked and expired keys. The keys themselves are never shown.',
          successDescription: 'A page of keys.',
          responseBody: 'keys',
          response: pageOf(key),
          envelope: 'keys',
          headers: pageHeaders,
        },
      },
    }),

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
          description: 'Returns the stored data of the key, not the key itself.',
          successDescription: 'The key.',
          response: key,
          envelope: 'key',
          etag: 'version',
        },
      },
    }),

    create: mutation({
      access: 'admin',
      input: z.object({
        name: text(1, 200).meta({ description: 'Who or what uses the key.', examples: ['nightly import'] }),
        role,
        expires_at: moment.nullable().default(null).meta({ description: 'When the key expires; null for never.' }),
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
          description: 'The response contains the key itself. It is shown only once.',
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
          description: 'The key is rejected from now on and stays in the list.',
          successDescription: 'The key was revoked.',
          headerParams: writeHeaders,
          ifMatch: 'if_version',
        },
      },
    }),
  },
})
