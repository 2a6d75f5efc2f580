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
  whole,
  write,
  writeHeaders,
} from './fields.ts'
import { listInput, pageFacts, pageHeaders, pageOf } from './pages.ts'
import { ROLES } from './roles.ts'
import { or } from './words.ts'

const role = z.enum(ROLES, must(or(ROLES))).meta({
  description:
    '`reader` can read. `proposer` can also preview and propose writes. `writer` can also write. `admin` can also delete by filter, manage keys and read the audit log.',
})

const key = z
  .object({
    id,
    name: z.string().meta({ description: 'Who or what uses the key.' }),
    role,
    owner: z.string().nullable().meta({ description: 'Who answers for the key.' }),
    prefix: z.string().meta({ description: 'The first characters of the key. The rest is stored only as a hash.' }),
    created_at: timestamp,
    expires_at: nullableTimestamp,
    revoked_at: nullableTimestamp,
    last_used_at: nullableTimestamp.meta({ description: 'When the key was last used, to the minute.' }),
    rotated_at: nullableTimestamp.meta({ description: 'When the key got its secret, if not at its creation.' }),
    former_until: nullableTimestamp.meta({ description: 'Until when the secret before the rotation is accepted.' }),
  })
  .meta({ id: 'Key' })

const versioned = key.extend({ version }).meta({ id: 'VersionedKey' })
const shownOnce = { key: z.string().meta({ description: 'The key itself. It is shown only once.' }) }
const shownKey = key.extend(shownOnce).meta({ id: 'CreatedKey' })
const MAX_GRACE_S = 24 * 60 * 60

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
        owner: text(1, 200)
          .nullable()
          .default(null)
          .meta({ description: 'Who answers for the key.', examples: ['Mira'] }),
        expires_at: moment.nullable().default(null).meta({ description: 'When the key expires; null for never.' }),
        idempotency_key: idempotencyKey,
      }),
      output: versioned.extend(shownOnce),
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
          response: shownKey,
          envelope: 'key',
          etag: 'version',
          headerParams: writeHeaders,
          headers: location('/api/keys/{id}'),
        },
      },
    }),

    rotate: mutation({
      access: 'admin',
      input: z.object({
        id: recordId,
        grace: whole(0, MAX_GRACE_S)
          .default(0)
          .meta({ description: 'For how many seconds the former secret is accepted as well.', examples: [3600] }),
        ...write,
      }),
      output: versioned.extend(shownOnce),
      errors: [404, 409],
      errorData: stale,
      meta: {
        openapi: {
          method: 'POST',
          path: '/api/keys/{id}/rotate',
          operationId: 'rotateKey',
          summary: 'Rotate a key',
          description:
            'Gives the key a new secret. Its id, role and prefix stay. The response contains the key itself, which is shown only once. The former secret is rejected from now on, or after the grace.',
          successDescription: 'The key with its new secret.',
          response: shownKey,
          envelope: 'key',
          etag: 'version',
          headerParams: writeHeaders,
          ifMatch: 'if_version',
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
