import { type CollectionFacts, ROLES, type Role, readFilter } from '@resource/contract'
import type { Kind } from '@resource/database'
import { z } from 'zod'

/** What is compared of a collection's declaration. */
export interface DeclaredCollection {
  noun: string
  facts: CollectionFacts
  /** The fields that are written and are columns, with their schemas. */
  fields: Record<string, z.ZodType>
  /** The fields that are shown. */
  shown: readonly string[]
  /** The columns that are derived from fields. */
  derived: readonly string[]
}

/** What is compared of its table. */
export interface DeclaredTable {
  columns: Readonly<Record<string, Kind>>
  indexed: readonly PropertyKey[]
  references: Readonly<Record<string, { table: PropertyKey; onDelete: 'Restrict' | 'Cascade' } | undefined>>
}

const MODEL = 'the model in prisma/schema.prisma'

/**
 * Compares a collection with its table.
 *
 * @param table undefined where there is no model
 * @throws Error that names each field on which they disagree
 */
export function checkAgreement(collection: DeclaredCollection, table: DeclaredTable | undefined): void {
  const { noun } = collection
  if (table === undefined) throw new Error(`${noun}: there is no table; prisma/schema.prisma needs a model for it`)
  const named = new Set([...collection.shown, ...Object.keys(collection.fields), ...collection.derived])
  const missing = [...named].filter((name) => !(name in table.columns))
  if (missing.length > 0) throw new Error(`${noun}: ${MODEL} has no column for ${missing.join(', ')}`)
  const faults = [...wrongKinds(collection, table), ...wrongReferences(collection, table)]
  if (faults.length > 0) throw new Error(`${noun}: ${faults.join('; ')}`)
  const unindexed = withoutIndex(collection, table)
  if (unindexed.length > 0) {
    const [first] = unindexed
    throw new Error(
      `${noun}: lists are filtered or sorted by ${unindexed.join(', ')} without an index; add @@index([${first}, id]) to ${MODEL}, or the reason to \`unindexed\` in the declaration`,
    )
  }
}

const KINDS: Record<string, readonly string[]> = {
  string: ['text'],
  enum: ['text'],
  boolean: ['bool'],
  number: ['float'],
  integer: ['int', 'bigint'],
  datetime: ['date'],
}

function wrongKinds({ fields }: DeclaredCollection, { columns }: DeclaredTable): string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const kind = columns[name] as Kind
    const { isNullable, type } = storedAs(field)
    if (!KINDS[type]?.includes(kind.replace('?', ''))) return [`${name} holds ${type} values and ${MODEL} ${kind}`]
    if (isNullable === kind.endsWith('?')) return []
    return [
      isNullable
        ? `${name} may be null or left out, and not in ${MODEL}`
        : `${name} may be null in ${MODEL}, and not here`,
    ]
  })
}

/** What a field brings to its column: of which type, and whether null among it. */
function storedAs(field: z.ZodType): { isNullable: boolean; type: string } {
  if (field instanceof z.ZodDefault) return storedAs(field.unwrap() as z.ZodType)
  if (field instanceof z.ZodNullable || field instanceof z.ZodOptional) {
    return { ...storedAs(field.unwrap() as z.ZodType), isNullable: true }
  }
  const { type, format } = field.def as z.core.$ZodTypeDef & { format?: string }
  if (type === 'number' && format === 'safeint') return { isNullable: false, type: 'integer' }
  return { isNullable: false, type: format === 'datetime' ? 'datetime' : type }
}

function wrongReferences({ facts, fields }: DeclaredCollection, { references }: DeclaredTable): string[] {
  return Object.keys(fields).flatMap((field) => {
    const [declared, stored] = [facts.references[field], references[field]?.table]
    if (declared === stored) return []
    if (stored === undefined) return [`${field} refers to ${declared}, and not by a relation in ${MODEL}`]
    return [`${field} refers to ${String(stored)} by a relation in ${MODEL}, and to ${declared ?? 'nothing'} here`]
  })
}

function withoutIndex({ facts, fields }: DeclaredCollection, { indexed }: DeclaredTable): string[] {
  const filtered = facts.filters.map((filter) => readFilter(filter, Object.keys(fields)).field)
  const named = [...new Set([...filtered, ...facts.sort])]
  return named.filter((field) => !indexed.includes(field) && !(field in facts.unindexed))
}

/**
 * Refuses a cascade into a collection whose records take a higher role to delete than the record they go with: it would be
 * a way around that role.
 *
 * @param roleToDelete the role it takes to delete a record of a collection; undefined where nobody can
 * @throws Error that names both
 */
export function checkCascades(
  noun: string,
  { references }: Pick<DeclaredTable, 'references'>,
  roleToDelete: (noun: PropertyKey) => Role | undefined,
): void {
  const needed = roleToDelete(noun)
  for (const [field, reference] of Object.entries(references)) {
    const given = reference?.onDelete === 'Cascade' ? roleToDelete(reference.table) : undefined
    if (needed === undefined || given === undefined || ROLES.indexOf(given) >= ROLES.indexOf(needed)) continue
    throw new Error(
      `${noun}: to delete one takes the role ${needed}, and ${String(reference?.table)}, whose deletion cascades by ${field}, only ${given}; give both the same role, or set onDelete: Restrict in ${MODEL}`,
    )
  }
}
