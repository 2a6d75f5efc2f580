import { type CollectionFacts, readFilter } from '@resource/contract'
import { factsOf } from '@resource/contract/schema'
import type { Kind } from '@resource/database'
import { and, or } from '@resource/openapi/contract'
import type { z } from 'zod'
import { type DerivedColumn, searchColumn } from './row-mapping.ts'

/** The compared parts of a collection's declaration. */
export interface DeclaredCollection {
  noun: string
  facts: CollectionFacts
  /** The fields that are columns, with their schemas; without those that the service assigns. */
  fields: Record<string, z.ZodType>
  /** The fields of a response. */
  shown: readonly string[]
  /** The columns derived from fields. */
  derived: readonly string[]
  /** The columns by which an update of many names records. */
  keyColumns: readonly string[]
}

/** The compared parts of a collection's table. */
export interface DeclaredTable {
  columns: Readonly<Record<string, Kind>>
  indexed: readonly PropertyKey[]
  /** The columns of its search index. */
  search: readonly PropertyKey[]
  /** The unique columns other than the id. */
  unique: readonly PropertyKey[]
  references: Readonly<Record<string, { table: PropertyKey; onDelete: 'Restrict' | 'Cascade' } | undefined>>
}

/** How messages name the models. */
export const MODEL = 'the model in prisma/schema.prisma'

/**
 * Compares a collection with its table.
 *
 * @param table undefined if the schema has no model
 * @throws Error that lists each field whose declarations differ
 */
export function checkAgreement(
  collection: DeclaredCollection,
  table: DeclaredTable | undefined,
): asserts table is DeclaredTable {
  const { noun, facts } = collection
  if (table === undefined) throw new Error(`${noun}: there is no table; add a model to prisma/schema.prisma`)
  const named = new Set([...collection.shown, ...Object.keys(collection.fields), ...collection.derived])
  const missing = [...named].filter((name) => !(name in table.columns))
  if (missing.length > 0) throw new Error(`${noun}: ${MODEL} has no column for ${or(missing)}`)
  const faults = [...wrongKinds(collection, table), ...wrongReferences(collection, table)]
  if (faults.length > 0) throw new Error(`${noun}: ${faults.join('; ')}`)
  const unsearchable = facts.search.map(searchColumn).filter((column) => !table.search.includes(column))
  if (unsearchable.length > 0) {
    throw new Error(`${noun}: ${MODEL} marks no column ${or(unsearchable)} with @search`)
  }
  const ambiguous = collection.keyColumns.filter((column) => !table.unique.includes(column))
  if (ambiguous.length > 0) {
    throw new Error(`${noun}: a key must be unique, but ${MODEL} has no @unique on ${or(ambiguous)}`)
  }
  const unindexed = withoutIndex(collection, table)
  if (unindexed.length > 0) {
    const [first] = unindexed
    throw new Error(
      `${noun}: lists are filtered or sorted by ${and(unindexed)} without an index; add @@index([${first}, id]) to ${MODEL}, or add the reason to \`unindexed\` in the declaration`,
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
    const facts = factsOf(field)
    const type = facts.format === 'datetime' ? 'datetime' : facts.type
    // An omitted value is stored as null.
    const isNullable = facts.isNullable || (facts.isOptional && facts.initial === undefined)
    if (!KINDS[type]?.includes(kind.replace('?', ''))) return [`${name} is ${type} here, but ${kind} in ${MODEL}`]
    if (isNullable === kind.endsWith('?')) return []
    return [
      isNullable
        ? `${name} is nullable or optional here, but not nullable in ${MODEL}`
        : `${name} is nullable in ${MODEL}, but not here`,
    ]
  })
}

function wrongReferences({ facts, fields }: DeclaredCollection, { references }: DeclaredTable): string[] {
  return Object.keys(fields).flatMap((field) => {
    const [declared, stored] = [facts.references[field], references[field]?.table]
    if (declared === stored) return []
    if (stored === undefined) return [`${field} refers to ${declared} here, but has no relation in ${MODEL}`]
    return [`${field} refers to ${String(stored)} by a relation in ${MODEL}, but to ${declared ?? 'nothing'} here`]
  })
}

function withoutIndex({ facts, fields }: DeclaredCollection, { indexed }: DeclaredTable): string[] {
  const names = [...Object.keys(fields), 'created_at', 'updated_at']
  const filtered = facts.filters.flatMap((filter) => {
    const { field, by } = readFilter(filter, names)
    return by === 'contains' ? [] : [field]
  })
  const named = [...new Set([...filtered, ...facts.sort])]
  return named.filter((field) => !indexed.includes(field) && !(field in facts.unindexed))
}

/** @throws Error for a read-only field that no new record would have a value of */
export function refuseUncomputed(noun: string, { readOnly }: CollectionFacts): void {
  for (const [name, schema] of Object.entries(readOnly)) {
    const { isNullable, initial } = factsOf(schema)
    if (isNullable || initial !== undefined) continue
    throw new Error(`${noun}: no rule computes ${name}, which is read-only; give it a default, or make it nullable`)
  }
}

/** @throws Error for a column of several fields that is not computed from shown ones alone */
export function refuseJoint(noun: string, derived: Record<string, DerivedColumn>, shown: readonly string[]): void {
  for (const [column, { from, make, check, prepare }] of Object.entries(derived)) {
    if (typeof from === 'string' || (make && !check && !prepare && from.every((field) => shown.includes(field))))
      continue
    throw new Error(`${noun}: ${column} has several fields, so it must have only make, and only shown fields`)
  }
}
