import { z } from 'zod'
import type { ResolvedBinding } from './bindings.ts'

/** An example of the binding's `ETag`: `"3-User.5b1f0c"`. */
export function entityTag({ response }: ResolvedBinding): string {
  return `"3-${response.meta()?.id ?? 'Record'}.5b1f0c"`
}

export const etag = (example: string) =>
  z
    .string()
    .meta({ description: 'The version of the record and the shape of the response, quoted.', examples: [example] })
const RETRY_AFTER = z
  .string()
  .regex(/^\d+$/)
  .meta({ description: 'Seconds to wait.', examples: ['1'] })
export const accepts = (description: string, value: string) =>
  z
    .string()
    .optional()
    .meta({ description, examples: [value] })
export const ERROR_HEADERS: Record<number, Record<string, z.ZodType>> = {
  415: {
    Accept: accepts('The media type a body must have.', 'application/json'),
    'Accept-Encoding': accepts('The encoding a body must have.', 'identity'),
  },
  429: { 'Retry-After': RETRY_AFTER },
  503: { 'Retry-After': RETRY_AFTER },
}
export const PREFER = accepts(
  '`handling=strict` rejects unknown fields of the body with a 400; by default most operations ignore them.',
  'handling=strict',
)
