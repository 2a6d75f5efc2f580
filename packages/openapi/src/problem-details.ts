import { z } from 'zod'
import type { Fault } from './api-error.ts'

/** The media type of problem details (RFC 9457), which lists invalid fields as data. */
export const PROBLEM_TYPE = 'application/problem+json'

/** The schema of {@link problemBody}. */
export const problemSchema = z
  .object({
    status: z.int(),
    detail: z.string(),
    fields: z.array(z.object({ field: z.string(), message: z.string() })),
    data: z.unknown().optional(),
  })
  .meta({
    id: 'ProblemDetails',
    examples: [
      { status: 400, detail: 'age: must be an integer', fields: [{ field: 'age', message: 'must be an integer' }] },
    ],
  })

/** An error as problem details. */
export function problemBody({ status, message, fields, data }: Fault): z.output<typeof problemSchema> {
  return { status, detail: message, fields, ...(data !== undefined && { data }) }
}

/** Whether an `Accept` header names problem details: a wildcard does not. */
export function acceptsProblem(accept: string | undefined): boolean {
  return accept !== undefined && /(?:^|,)\s*application\/problem\+json\s*(?:[,;]|$)/i.test(accept)
}
