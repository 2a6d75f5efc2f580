import { type CollectionFacts, FIELD_ROLE, type Role, refusedTransition, VALUE_ROLES } from '@resource/contract'
import { factsOf } from '@resource/contract/schema'
import type { Written } from '@resource/database'
import { FieldError, type Path } from '@resource/openapi'
import type { z } from 'zod'
import { type Caller, includesRole } from '../access/caller.ts'
import type { Check, Compute } from './record-rules.ts'
import type { Row, Values } from './row-mapping.ts'

export type WriteRules = ReturnType<typeof writeRules>

/**
 * The rules that writes of a collection's records obey: the roles that they require (API rule U17), the transitions, and its own.
 *
 * @param creation the fields of a new record
 * @param change the fields that a change can have
 * @param own its functions, which get rows in the form of the contract
 */
export function writeRules(
  facts: CollectionFacts,
  creation: z.ZodRawShape,
  change: z.ZodRawShape,
  own: { check?: Check<Values> | undefined; compute?: Compute<Values, string> | undefined } = {},
) {
  const ofFields = fieldRoles(change)
  const guarded = Object.keys(ofFields)
  const guardedHidden = guarded.filter((field) => facts.hidden.includes(field))
  const guardedShown = guarded.filter((field) => !facts.hidden.includes(field))
  const ofRecords = valueRules(facts.valueRoles)
  const staged = Object.keys(facts.transitions)

  const checkFields = (caller: Caller, change: Values, fields: string[]): void => {
    for (const field of fields) {
      const role = ofFields[field]
      if (change[field] === undefined || role === undefined || includesRole(caller, role)) continue
      throw refusal([field], `changing it needs the role ${role}`, caller)
    }
  }
  // The fields that the caller may not change, if the stored record shows whether the change differs from it.
  const compared = (caller: Caller, change: Values) =>
    guardedShown.filter((field) => change[field] !== undefined && !includesRole(caller, ofFields[field] as Role))

  const rules = {
    /** @throws FieldError 403 if the caller may not create a record with one of the values */
    checkCreation: valueCheck(creation),

    /**
     * Checks the hidden fields of a change. A record does not show whether they differ, so any value counts as a change.
     *
     * @throws FieldError 403
     */
    checkHidden: (caller: Caller, change: Values): void => checkFields(caller, change, guardedHidden),

    /**
     * Whether {@link checkWritten} or the check can refuse a write, which is then undone.
     *
     * @param change absent for a delete
     */
    dependOnRecord: (caller: Caller, change: Values = {}): boolean =>
      own.check !== undefined ||
      staged.some((field) => change[field] !== undefined) ||
      ofRecords.some(({ role }) => !includesRole(caller, role)) ||
      compared(caller, change).length > 0,

    /**
     * Checks a write by the record before and after it, as the write itself read them.
     *
     * @throws FieldError 403, or 409 for a transition that the field does not have
     */
    checkWritten: (caller: Caller, { before, after }: Written<Row>, change: Values): void => {
      if (before === undefined) return
      if (after !== undefined) {
        checkFields(
          caller,
          change,
          compared(caller, change).filter((field) => before[field] !== after[field]),
        )
        for (const field of staged) {
          const message = refusedTransition(facts.transitions, field, before[field], after[field])
          if (message !== undefined) throw new FieldError(409, [{ path: [field], message }], { reason: 'transition' })
        }
        if (before.version === after.version) return
      }
      rules.checkRecord(caller, before)
    },

    ...own,

    /** The roles that changing or deleting a record can require because of its values. */
    recordRoles: ofRecords.map(({ role }) => role),

    /** @throws FieldError 403 if the caller may neither change nor delete a record with these values */
    checkRecord: (caller: Caller, record: Values): void => {
      const broken = ofRecords.find(
        ({ field, value, role }) => String(record[field]) === value && !includesRole(caller, role),
      )
      if (broken === undefined) return
      const { field, value, role } = broken
      throw refusal([], `changing or deleting a ${facts.one} whose ${field} is ${value} needs the role ${role}`, caller)
    },
  }
  return rules
}

/** Returns a check of the values of an input: FieldError 403 if the caller may not set one of them. */
function valueCheck(shape: z.ZodRawShape): (caller: Caller, given: Values) => void {
  const roles = Object.entries(shape).map(([field, schema]) => [field, metaOf(schema)[VALUE_ROLES] ?? {}])
  const rules = valueRules(Object.fromEntries(roles))
  return (caller, given) => {
    for (const { field, value, role } of rules) {
      if (String(given[field]) === value && !includesRole(caller, role))
        throw refusal([field], `${value} needs the role ${role}`, caller)
    }
  }
}

function fieldRoles(shape: z.ZodRawShape): Record<string, Role> {
  const roles = Object.entries(shape).map(([field, schema]) => [field, metaOf(schema)[FIELD_ROLE]])
  return Object.fromEntries(roles.filter(([, role]) => role !== undefined))
}

function valueRules(roles: CollectionFacts['valueRoles']) {
  return Object.entries(roles).flatMap(([field, ofValues]) =>
    Object.entries(ofValues).map(([value, role]) => ({ field, value, role })),
  )
}

function metaOf(schema: unknown): Record<string, unknown> {
  return factsOf(schema as z.ZodType).meta
}

function refusal(path: Path, rule: string, { role }: Caller): FieldError {
  return new FieldError(403, [{ path, message: `${rule}; yours is ${role}` }], { reason: 'role' })
}
