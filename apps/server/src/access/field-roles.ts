import { type CollectionFacts, FIELD_ROLE, type Role, VALUE_ROLES } from '@resource/contract'
import { factsOf } from '@resource/contract/schema'
import { FieldError, type Path } from '@resource/openapi'
import type { z } from 'zod'
import { type Caller, includesRole } from './caller.ts'

export type FieldRules = ReturnType<typeof fieldRules>

/** The roles that the contract's schemas require to change fields of an input, or to set certain values. */
export function fieldRules({ shape }: z.ZodObject) {
  const changes = new Map<string, Role>()
  const values = new Map<string, Record<string, Role>>()
  for (const [field, schema] of Object.entries(shape)) {
    const { [FIELD_ROLE]: role, [VALUE_ROLES]: roles } = factsOf(schema as z.ZodType).meta
    if (role !== undefined) changes.set(field, role as Role)
    if (roles !== undefined) values.set(field, roles as Record<string, Role>)
  }
  return {
    /** The fields that need a role to change. */
    guarded: [...changes.keys()],
    /** Whether a caller may change every field, so that a change needs no comparison of the record before and after. */
    allows: (caller: Caller) => [...changes.values()].every((role) => includesRole(caller, role)),
    /** @throws FieldError 403 if the caller may not change the field */
    checkChange: (caller: Caller, field: string): void => {
      const role = changes.get(field)
      if (role !== undefined && !includesRole(caller, role))
        throw refusal([field], `changing it needs the role ${role}`, caller)
    },
    /**
     * @param at the path of the record in the input: `['users', 3]` in a list
     * @throws FieldError 403 if the caller may not set one of the values
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

export type RecordRules = ReturnType<typeof recordRules>

/** The roles that changing or deleting a record requires because of the values it has. */
export function recordRules({ one, valueRoles }: Pick<CollectionFacts, 'one' | 'valueRoles'>) {
  const rules = Object.entries(valueRoles).flatMap(([field, roles]) =>
    Object.entries(roles).map(([value, role]) => ({ field, value, role })),
  )
  return {
    /** The fields whose values decide. */
    fields: Object.keys(valueRoles),
    roles: rules.map(({ role }) => role),
    /** Whether a caller may change and delete every record, so that a write needs no check of the stored record. */
    allows: (caller: Caller) => rules.every(({ role }) => includesRole(caller, role)),
    /**
     * @param stored the record before the write, as the write itself read it
     * @throws ApiError 403 if the caller may neither change nor delete it
     */
    check: (caller: Caller, stored: Record<string, unknown>): void => {
      for (const { field, value, role } of rules) {
        if (String(stored[field]) !== value || includesRole(caller, role)) continue
        const message = `changing or deleting a ${one} whose ${field} is ${value} needs the role ${role}; yours is ${caller.role}`
        throw new FieldError(403, [{ path: [], message }], { reason: 'role' })
      }
    },
  }
}

function refusal(path: Path, rule: string, { role }: Caller): FieldError {
  return new FieldError(403, [{ path, message: `${rule}; yours is ${role}` }], { reason: 'role' })
}
