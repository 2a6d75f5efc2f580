import { ROLES, type Role } from '@resource/contract'
import { type DeclaredTable, MODEL } from './agreement.ts'

/**
 * Refuses a cascading delete into a collection whose own deletion needs a higher role: the cascade would bypass that role.
 *
 * @param needed the highest role that deleting a record of this collection needs; undefined if records cannot be deleted
 * @param roleToDelete the role that deleting a record of another table needs at least
 * @throws Error that names both collections
 */
export function checkCascades(
  noun: string,
  { references }: Pick<DeclaredTable, 'references'>,
  needed: Role | undefined,
  roleToDelete: (noun: PropertyKey) => Role | undefined,
): void {
  for (const [field, reference] of Object.entries(references)) {
    const given = reference?.onDelete === 'Cascade' ? roleToDelete(reference.table) : undefined
    if (needed === undefined || given === undefined || ROLES.indexOf(given) >= ROLES.indexOf(needed)) continue
    throw new Error(
      `${noun}: deleting one can need the role ${needed}, but deleting ${String(reference?.table)}, which cascades by ${field}, only ${given}; give both the same role, or set onDelete: Restrict in ${MODEL}`,
    )
  }
}

/** @throws Error for a collection with a check whose records a cascade deletes: the check would not see it */
export function refuseUnchecked(noun: string, { references }: Pick<DeclaredTable, 'references'>): void {
  for (const [field, reference] of Object.entries(references)) {
    if (reference?.onDelete !== 'Cascade') continue
    throw new Error(
      `${noun}: its check would not see what a deletion of ${String(reference.table)} deletes by ${field}; set onDelete: Restrict in ${MODEL}`,
    )
  }
}

/** The lowest role with which a procedure deletes records; undefined if none does. */
export function roleToDelete(procedures: Readonly<Record<string, DeletingProcedure>>): Role | undefined {
  const deleting = Object.entries(procedures).filter(([, { meta }]) => meta.openapi.method === 'DELETE')
  return ROLES.find((role) => deleting.some(([, { access }]) => access === role))
}

interface DeletingProcedure {
  access?: string
  meta: { openapi: { method: string } }
}
