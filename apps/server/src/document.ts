import { API_SUBJECT, API_TITLE, API_VERSION, contract, envelope, ROLES, requestGroup } from '@resource/contract'
import { and, or } from '@resource/openapi/contract'
import { openApiDocument } from '@resource/openapi/document'
import { z } from 'zod'

const roles = ROLES.map((role) => `\`${role}\``)

const DESCRIPTION = `${API_SUBJECT} over JSON.

- Without an API key or identity provider, direct requests from the same machine need no credentials. Otherwise send
  \`Authorization: Bearer\` with a key or a token. Its role is ${or(roles)}.
- \`RateLimit\` has the remaining quota. A 429 or 503 has \`Retry-After\`, the seconds to wait.
- Every list takes \`page\`, \`limit\` and \`sort\`. \`Link\` holds the URLs of other pages; \`count=true\` adds \`X-Total-Count\`.
- To read a whole collection, start with an empty \`after=\` and follow \`Link\` with \`rel="next"\`: every page costs the same.
- Unknown fields of a body are ignored. With \`Prefer: handling=strict\` they are a 400.
- A single record has an \`ETag\`. Send it as \`If-Match\` to write only if the record has not changed since you read it.
- A POST with an \`Idempotency-Key\` can be retried safely: it takes effect once.
- \`envelope=true\` wraps any response, including errors, as \`{ status, data, meta }\`; \`/openapi-envelope.json\` describes these responses.
- An id is any integer. A write to a record that does not exist is a 404, whatever its body. A write that changes nothing
  keeps the record's version and \`updated_at\`.
- If \`Accept\` names \`application/problem+json\`, an error is a problem document (RFC 9457): \`{ type, status, code, detail, fields }\`,
  where \`code\` is stable and \`fields\` lists each invalid field with a \`message\`.
- HEAD works for every GET. OPTIONS and every 405 list the methods of a path in \`Allow\`.
- Trailing slashes are significant only under \`/api/users\`.`

const CREDENTIALS = `An API key, or a token of the configured identity provider. Each operation names the role it needs in \`x-role\`. Each role includes the previous ones: ${and(roles)}. Without a key or identity provider, a service on loopback needs no credentials, and its callers have every role.`

/** Creates the service's OpenAPI 3.1 document: of plain responses, or of responses in the standard envelope. */
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
    challenge: 'Bearer realm="resource"',
    everywhere: {
      headers: {
        'X-Request-Id': z.string().meta({ description: 'Identifies the request in the log.' }),
        RateLimit: z
          .string()
          .optional()
          .meta({
            description:
              'The remaining quota (`r`) and the seconds until it resets (`t`). Present if the caller is rate-limited.',
            examples: ['"default";r=5999;t=42'],
          }),
        'RateLimit-Policy': z
          .string()
          .optional()
          .meta({
            description: 'The quota (`q`) per window (`w`, in seconds).',
            examples: ['"default";q=6000;w=60'],
          }),
      },
      writeHeaders: {
        'Idempotent-Replayed': z
          .literal('true')
          .optional()
          .meta({ description: 'This is the answer to an earlier request with the same `Idempotency-Key`.' }),
      },
      writeParameters: {
        'If-Effect': z
          .string()
          .regex(/^"[\w-]{43}"$/)
          .optional()
          .meta({
            description:
              'Writes only if the write does exactly what the preview with this `effect` showed; otherwise 412.',
            examples: ['"jTf0m5rVqyQ0zJ4Jm2d5l9u0Q1n2b7xk3sC6w8aYtEo"'],
          }),
        'X-Request-Group': requestGroup.optional().meta({
          description: 'Groups requests, so that they can be undone together. A UUID of your choice.',
          examples: ['0198a1c4-7d52-7b0e-9c3f-5a2f8e6b1d07'],
        }),
      },
      errors: [429, 431, 503],
      writeErrors: [412],
    },
  })
}
