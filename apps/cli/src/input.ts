import { invalidFields } from './failures.ts'
import type { Field } from './fields.ts'
import type { JsonObject, Procedure } from './service.ts'

/** Validates the input against the contract before anything is sent. @throws Failure that names the flags */
export function checkInput({ input: schema }: Procedure, input: JsonObject, fields: Field[]): void {
  const parsed = schema.safeParse(input)
  if (parsed.success) return
  const errors = new Map<string, string>()
  for (const { path, message } of parsed.error.issues) {
    const field = String(path[0] ?? '')
    if (!errors.has(field)) errors.set(field, field !== '' && input[field] === undefined ? 'is required' : message)
  }
  throw invalidFields(
    [...errors].map(([field, message]) => ({ field, message })),
    fields,
  )
}
