import type { Kind, Where } from './types.ts'
import { within } from './within.ts'

/**
 * Which records exist for a caller, by conditions on their fields that are combined with AND. `nothing` is no record. An undefined
 * value matches nothing, too: a caller without the value that decides must not see everything.
 */
export type ScopeFilter<Record> = { [Field in keyof Record]?: ScopeCondition<Record[Field]> | undefined } | 'nothing'

type ScopeCondition<Value> =
  | Value
  | { in: readonly NonNullable<Value>[] }
  | { not: null }
  | { [Bound in 'lt' | 'lte' | 'gt' | 'gte']?: NonNullable<Value> }

/** The part of a table that exists for a caller. */
export interface Scope {
  /** The filters that records fulfill all of: scopes are equal if the JSON of these is. */
  filters: readonly ScopeFilter<Values>[]
  where: Where<ScopedRow>
  /** The first field because of which a row, or a record with times as text, is outside; undefined if it is inside. */
  outside(record: Values): string | undefined
}

type Values = Record<string, unknown>
export type ScopedRow = Values & { id: number; version: number }

/** @param field because of which every record is outside */
function nothing(field = 'id'): Scope {
  return { filters: ['nothing'], where: { id: { in: [] } }, outside: () => field }
}

const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z')
const LATEST = Date.parse('9999-12-31T23:59:59.999Z')
const MAX_INT = 2 ** 31

/**
 * The scope of filters.
 *
 * @param columns of the table, which include the fields
 * @throws Error for a field that is no column
 */
export function scopeOf(filters: readonly ScopeFilter<Values>[], columns: Readonly<Record<string, Kind>>): Scope {
  const [first = nothing(), ...others] = filters.map((filter) => ofFilter(filter, columns))
  return others.reduce(both, first)
}

/** The records that are in both. */
export function both(one: Scope, other: Scope): Scope {
  return {
    filters: [...one.filters, ...other.filters],
    where: within(one.where, other.where),
    outside: (record) => one.outside(record) ?? other.outside(record),
  }
}

function ofFilter(filter: ScopeFilter<Values>, columns: Readonly<Record<string, Kind>>): Scope {
  if (filter === 'nothing') return nothing()
  const where: Where<ScopedRow> = {}
  const tests: [field: string, test: (value: unknown) => boolean][] = []
  for (const [field, condition] of Object.entries(filter)) {
    const kind = columns[field]
    if (kind === undefined) throw new Error(`A scope names ${field}, which is no column`)
    const stored = storedCondition(condition, kind)
    // Its JSON, too, is that of nothing: it would lack an undefined value.
    if (stored === undefined) return nothing(field)
    where[field] = stored
    tests.push([field, (value) => fulfills(value, stored, kind)])
  }
  return {
    filters: [filter],
    where,
    outside: (record) => tests.find(([field, test]) => !test(record[field] ?? null))?.[0],
  }
}

type Stored = null | string | number | boolean | Date | { not: null } | Compared
type Compared = { in?: unknown[] } & { [Bound in keyof typeof BOUNDS]?: unknown }

const BOUNDS = {
  lt: (order: number) => order < 0,
  lte: (order: number) => order <= 0,
  gt: (order: number) => order > 0,
  gte: (order: number) => order >= 0,
}
const bounds = Object.keys(BOUNDS) as (keyof typeof BOUNDS)[]

/** A condition with values that the column can store; undefined if no value of the column fulfills it. */
function storedCondition(condition: unknown, kind: Kind): Stored | undefined {
  if (condition === null) return null
  if (typeof condition !== 'object' || condition instanceof Date) return storable(condition, kind)
  if ('not' in condition) return { not: null }
  const given: Compared = condition
  const compared: Compared = {}
  if (given.in !== undefined) {
    compared.in = given.in.flatMap((value) => storable(value, kind) ?? [])
    if (compared.in.length === 0) return undefined
  }
  for (const bound of bounds) {
    if (!(bound in given)) continue
    const value = storable(given[bound], kind)
    if (value === undefined) return undefined
    compared[bound] = value
  }
  // Without any, it would be no condition.
  return Object.keys(compared).length === 0 ? undefined : compared
}

/** A value as the column stores it; undefined if it cannot. */
function storable(value: unknown, kind: Kind): string | number | boolean | Date | undefined {
  const type = kind.replace('?', '')
  if (type === 'date') {
    const ms = timeOf(value)
    return ms >= EARLIEST && ms <= LATEST ? new Date(ms) : undefined
  }
  if (typeof value === 'string')
    return type === 'text' && value.isWellFormed() && !value.includes('\0') ? value : undefined
  if (typeof value === 'boolean') return type === 'bool' ? value : undefined
  if (typeof value !== 'number') return undefined
  if (type === 'float') return Number.isFinite(value) ? value : undefined
  const isWhole = Number.isSafeInteger(value) && (type === 'bigint' || (value < MAX_INT && value >= -MAX_INT))
  return isWhole && type !== 'text' && type !== 'bool' ? value : undefined
}

function timeOf(value: unknown): number {
  if (value instanceof Date) return value.getTime()
  return typeof value === 'string' ? Date.parse(value) : Number.NaN
}

/** Whether a value of a record fulfills a condition, as it would in a statement. */
function fulfills(value: unknown, condition: Stored, kind: Kind): boolean {
  if (condition === null || value === null) return value === condition
  if (typeof condition !== 'object' || condition instanceof Date) return compare(value, condition, kind) === 0
  if ('not' in condition) return true
  const { in: list } = condition
  if (list !== undefined && !list.some((each) => compare(value, each, kind) === 0)) return false
  return bounds.every((bound) => !(bound in condition) || BOUNDS[bound](compare(value, condition[bound], kind)))
}

/** Negative if `one` is less. Text compares by code point. NaN for values of other types, such as those of a damaged entry. */
function compare(one: unknown, other: unknown, kind: Kind): number {
  if (kind.startsWith('date')) return timeOf(one) - timeOf(other)
  if (typeof one === 'string' && typeof other === 'string') return Buffer.compare(Buffer.from(one), Buffer.from(other))
  return typeof one === typeof other ? Number(one) - Number(other) : Number.NaN
}
