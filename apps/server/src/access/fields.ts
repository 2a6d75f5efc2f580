import { FIELD_ROLE, type Role, VALUE_ROLES } from '@resource/contract'
import { FieldError, type Path } from '@resource/openapi'
import type { z } from 'zod'
import { type Caller, includesRole } from './caller.ts'

export type FieldRules = ReturnType<typeof fieldRules>

/** What the fields of an input ask of who changes or gives them, as the contract's schemas say. */
export function fieldRules({ shape }: z.ZodObject) {
  const changes = new Map<string, Role>()
  const values = new Map<string, Record<string, Role>>()
  for (const [field, schema] of Object.entries(shape)) {
    const { [FIELD_ROLE]: role, [VALUE_ROLES]: roles } = metaOf(schema as z.ZodType)
    if (role !== undefined) changes.set(field, role as Role)
    if (roles !== undefined) values.set(field, roles as Record<string, Role>)
  }
  return {
    /** The fields that take a role to change. */
    guarded: [...changes.keys()],
    /** Whether a caller may change every field, so that what a change makes of a record need not be looked at. */
    allows: (caller: Caller) => [...changes.values()].every((role) => includesRole(caller, role)),
    /** @throws FieldError 403 unless the caller may change the field */
    checkChange: (caller: Caller, field: string): void => {
      const role = changes.get(field)
      if (role !== undefined && !includesRole(caller, role))
        throw refusal([field], `to change it needs the role ${role}`, caller)
    },
    /**
     * @param at where the fields stand in the input: `['users', 3]` in a list
     * @throws FieldError 403 unless the caller may give each value
     */
    checkValues: (caller: Caller, given: Record<string, unknown>, at: Path = []): void => {
      for (const [field, roles] of values) {
        const role = roles[String(given[field])]
        if (role !== undefined && !includesRole(caller, role)) {
          throw refusal([...at, field], `${given[field]} needs the role ${role}`, caller)
        }
      }
    },
  }
}

// What makes a field optional or gives it a default stands around its schema.
function metaOf(schema: z.ZodType): Record<string, unknown> {
  const { innerType } = schema.def as z.core.$ZodTypeDef & { innerType?: z.ZodType }
  return { ...(innerType && metaOf(innerType)), ...schema.meta() }
}

function refusal(path: Path, rule: string, { role }: Caller): FieldError {
  return new FieldError(403, [{ path, message: `${rule}; yours is ${role}` }], { reason: 'role' })
}
