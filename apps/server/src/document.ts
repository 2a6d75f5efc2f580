import { API_VERSION, contract, envelope } from '@resource/contract'
import { openApiDocument } from '@resource/openapi'
import { z } from 'zod'

const DESCRIPTION = `Users, books and items over JSON.

- Every list takes \`page\`, \`limit\` and \`sort\`; \`Link\` says where it goes on. \`count=true\` adds \`X-Total-Count\`.
- Single records carry an \`ETag\`; send it back as \`If-Match\` to write only what you have read.
- A POST with an \`Idempotency-Key\` can be repeated without a second effect.
- \`envelope=true\` wraps any answer, errors too, as \`{ status, data, meta }\`.
- HEAD works wherever GET does; OPTIONS and every 405 name the methods of a path in \`Allow\`.
- Only \`/api/users\` tells a trailing slash from none; elsewhere it makes no difference.`

/** The service's OpenAPI 3.1 document. */
export function createDocument() {
  return openApiDocument(contract, {
    title: 'Resource Service',
    version: API_VERSION,
    description: DESCRIPTION,
    contact: { name: 'The maintainers of the Resource Service' },
    license: { name: 'MIT', identifier: 'MIT' },
    envelope,
    everywhere: {
      headers: { 'X-Request-Id': z.string().meta({ description: 'Identifies the request in the log.' }) },
      errors: [503],
    },
  })
}
