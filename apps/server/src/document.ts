import { API_SUBJECT, API_TITLE, API_VERSION, contract, envelope } from '@resource/contract'
import { openApiDocument } from '@resource/openapi/document'
import { z } from 'zod'

const DESCRIPTION = `${API_SUBJECT} over JSON.

- Every list takes \`page\`, \`limit\` and \`sort\`; \`Link\` says where it goes on. \`count=true\` adds \`X-Total-Count\`.
- Single records carry an \`ETag\`; send it back as \`If-Match\` to write only what you have read.
- A POST with an \`Idempotency-Key\` can be repeated without a second effect.
- \`envelope=true\` wraps any answer, errors too, as \`{ status, data, meta }\`.
- An id is any integer. A write to a record that is not stored is a 404, whatever its body; a write that changes nothing
  leaves the record's version and \`updated_at\` as they are.
- HEAD works wherever GET does; OPTIONS and every 405 name the methods of a path in \`Allow\`.
- Only \`/api/users\` tells a trailing slash from none; elsewhere it makes no difference.`

const CREDENTIALS =
  'An API key, or a token of the configured identity provider. Each operation names the role it needs, `x-role`; a role includes those before it: `reader`, `writer`, `admin`. As long as no key was created, a service on loopback takes calls without.'

/** The service's OpenAPI 3.1 document: of its plain answers, or of those in the standard envelope. */
export function createDocument(form: 'plain' | 'envelope' = 'plain') {
  return openApiDocument(contract, {
    form,
    title: API_TITLE,
    version: API_VERSION,
    description: DESCRIPTION,
    contact: { name: 'The maintainers of the Resource Service' },
    license: { name: 'MIT', identifier: 'MIT' },
    envelope,
    credentials: CREDENTIALS,
    everywhere: {
      headers: {
        'X-Request-Id': z.string().meta({ description: 'Identifies the request in the log.' }),
        RateLimit: z
          .string()
          .optional()
          .meta({
            description:
              'What is left of the quota (`r`) and when it is whole again (`t`, seconds), where callers are counted.',
            examples: ['"default";r=5999;t=42'],
          }),
        'RateLimit-Policy': z
          .string()
          .optional()
          .meta({
            description: 'The quota (`q`) of a window (`w`, seconds).',
            examples: ['"default";q=6000;w=60'],
          }),
      },
      errors: [429, 503],
    },
  })
}
