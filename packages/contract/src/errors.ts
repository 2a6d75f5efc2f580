import type { EnvelopeForm, ErrorForm } from '@resource/openapi/contract'
import { z } from 'zod'
import packageJson from '../package.json' with { type: 'json' }
import { timestamp } from './fields.ts'

/** The display name of the service. */
export const API_TITLE = 'Resource Service'

/** The version of this package, used in the OpenAPI document and in every envelope. */
export const API_VERSION: string = packageJson.version

/** `{ error }`: the error form of all user paths (API rule C30). */
export const errorField: ErrorForm = {
  schema: z.object({ error: z.string() }).meta({ id: 'ErrorField', examples: [{ error: 'User not found' }] }),
  body: ({ message }) => ({ error: message }),
}

/** `{ message }`: the error form of books and items (API rule C30). */
export const messageField: ErrorForm = {
  schema: z.object({ message: z.string() }).meta({ id: 'ErrorMessage', examples: [{ message: 'Item not found' }] }),
  body: ({ message }) => ({ message }),
}

const meta = z.object({ version: z.string(), timestamp }).meta({ id: 'EnvelopeMeta' })

// A bulk create of 1,000 records can have every field invalid.
const MAX_INVALID_FIELDS = 10_000

/** The standard envelope (API rules C27, C28 and C30), for requests with `?envelope=true` and for paths outside all resources. */
export const envelope: EnvelopeForm = {
  schema: (data, facts) =>
    z.object({
      status: z.literal('success'),
      data,
      meta: Object.keys(facts).length === 0 ? meta : z.object({ ...meta.shape, ...facts }),
    }),
  success: (data, facts) => ({
    status: 'success',
    data,
    meta: { version: API_VERSION, timestamp: new Date().toISOString(), ...facts },
  }),
  error: {
    schema: z
      .object({
        status: z.literal('error'),
        error: z
          .object({
            code: z.int(),
            message: z.string(),
            details: z.string(),
            reason: z
              .string()
              .optional()
              .meta({ description: 'Of a 409, 410 or 412: a stable code of the cause.', examples: ['taken'] }),
            fields: z
              .array(z.object({ field: z.string(), message: z.string() }).meta({ id: 'InvalidField' }))
              .max(MAX_INVALID_FIELDS)
              .optional()
              .meta({
                description: 'The invalid fields and what each must be; absent if the error concerns no field.',
              }),
          })
          .meta({ id: 'EnvelopeError' }),
      })
      .meta({
        id: 'ErrorEnvelope',
        examples: [
          {
            status: 'error',
            error: { code: 404, message: 'User not found', details: 'GET /api/users/7' },
          },
        ],
      }),
    body: ({ status, reason, message, details, fields }) => ({
      status: 'error',
      error: {
        code: status,
        message,
        details,
        // Only these statuses have several causes that programs must tell apart.
        ...((status === 409 || status === 410 || status === 412) && { reason }),
        ...(fields.length > 0 && { fields }),
      },
    }),
  },
}
