import type { z } from 'zod'
import { annotationsOf } from './fields.ts'

/** The roles of callers. Each role includes the ones before it. */
export const ROLES = ['reader', 'proposer', 'writer', 'admin'] as const

export type Role = (typeof ROLES)[number]

/** The schema key for the role that changing the field requires. */
export const FIELD_ROLE = 'x-role'

/** A field that only callers with the role may change. Without API keys and identity provider, callers have every role. */
export function withFieldRole<S extends z.ZodType>(role: Role, field: S): S {
  const { description, ...meta } = annotationsOf(field)
  const rule = `Changing it requires the role \`${role}\`.`
  return field.meta({ ...meta, description: description ? `${description} ${rule}` : rule, [FIELD_ROLE]: role })
}

/** The schema key for the roles that single values of the field require. */
export const VALUE_ROLES = 'x-value-roles'

/** A field with values that only callers with a role may set, and whose records only they may change. */
export function withValueRoles<S extends z.ZodType>(roles: Record<string, Role>, field: S): S {
  const rules = Object.entries(roles).map(([value, role]) => `The value \`${value}\` requires the role \`${role}\``)
  return field.meta({
    ...annotationsOf(field),
    description: `${rules.join('. ')}.`,
    [VALUE_ROLES]: roles,
  })
}
