import { createHash } from 'node:crypto'
import type { AuditEntry } from '../../generated/client.ts'
import { Recent } from '../recent.ts'
import { isSet, quote, type Statement } from './sql.ts'
import { timestamp } from './timestamp.ts'
import type { Entity, Kind, NewRow } from './types.ts'

/** The audit data of one call: the values that its entries share, and the tables that are audited. */
export interface AuditContext {
  /** The columns whose values are the same in all entries of the call. */
  shared: Pick<AuditEntry, 'actor' | 'actor_detail' | 'procedure' | 'request_id' | 'address'> &
    Partial<Pick<AuditEntry, 'proposed_by' | 'group_id' | 'reverses'>>
  /** The audited tables. */
  tables: { readonly [name: PropertyKey]: AuditedTable | undefined }
}

/** How audit entries represent the records of one table. */
export interface AuditedTable {
  resource: string
  /** The columns that entries include. */
  shown: readonly string[]
  /** Columns whose values are never included. An entry only records that `field` was set. */
  secrets: readonly { column: string; field: string }[]
  /** The columns that no entry shows, and that cannot be computed from those that it shows. Default: none. */
  kept?: readonly string[]
}

/** The audit data of one call for one table. */
export type Audit = AuditedTable & Pick<AuditContext, 'shared'>

/** One change of a record. */
export interface AuditedChange {
  before?: Entity
  after?: Entity
  /** The written columns. */
  written?: object
  /** Whether `after` is a deleted record that was restored, with its id. */
  isRestored?: true
}

/** A change of a record of an audited table, as a write records it. */
export interface RecordedChange extends AuditedChange {
  /** The name of the table in the declarations. */
  table: PropertyKey
}

type Value = string | number | boolean | null

/** How a statement returns the rows it writes. */
export interface AuditedStatement {
  /** The prefix of the columns that hold the record before the change; absent for an insert. */
  before?: string
  /** The prefix of the columns that hold the record after the change; absent for a delete. */
  after?: string
  /** The changes that an update writes. */
  changes?: object
  /** The columns to return; all by default. */
  returning?: string
  /** The column that orders the entries; the id by default. */
  order?: string
}

/**
 * By the shared columns, then by the statement's text, which is unique to a table, what is returned and the columns
 * that are written.
 */
const texts = new Map<string, Recent<string, string>>()

/**
 * Extends a PostgreSQL statement that writes and returns rows: it also inserts one audit entry per row. One statement makes
 * both writes atomic and takes one round trip.
 */
export function withAuditInsert(
  { text, values }: Statement,
  columns: Record<string, Kind>,
  { shared, resource, shown, secrets, kept = [] }: Audit,
  { before, after, changes, returning = '*', order = '"id"' }: AuditedStatement,
): Statement {
  const names = Object.keys(shared)

  const compose = () => {
    const isIncluded = ({ column }: { column: string }) => changes === undefined || isWritten(changes, column)
    const record = (prefix: string | undefined) => {
      if (prefix === undefined) return 'NULL'
      const fields = shown.map((name) => `'${name}', ${shownText(prefix + name, columns[name] as Kind)}`)
      return `json_build_object(${fields.join(', ')})::text`
    }
    // Per row: one row may have a password and another may not.
    const secretFields = secrets
      .filter(isIncluded)
      .map(({ column, field }) => `CASE WHEN ${quote(after + column)} IS NULL THEN '' ELSE ', "${field}" : "set"' END`)
    const hasSecrets = after !== undefined && secretFields.length > 0
    const recordAfter = hasSecrets ? `left(${record(after)}, -1) || ${secretFields.join(' || ')} || '}'` : record(after)
    const hidden = kept.filter((column) => changes === undefined || isWritten(changes, column))
    const [keptColumn, keptValues] =
      hidden.length === 0 ? ['', ''] : [', "kept"', `, ${keptText(hidden, columns, before, after)}`]
    // An update that changes nothing keeps the version.
    const condition = changes === undefined ? '' : ` WHERE "version" <> ${quote(`${before}version`)}`
    return `WITH "written" AS (${text}), "audit" AS (
      INSERT INTO "audit_entries" ("at", "resource", ${names.map(quote).join(', ')}, "record_id", "before", "after"${keptColumn})
      SELECT ?::timestamp, ?, ${names.map(() => '?').join(', ')}, "id", ${record(before)}, ${recordAfter}${keptValues}
      FROM "written"${condition} ORDER BY ${order}
    ) SELECT ${returning} FROM "written"`
  }

  const shape = names.join()
  let ofShape = texts.get(shape)
  if (ofShape === undefined) {
    ofShape = new Recent(500)
    texts.set(shape, ofShape)
  }
  return {
    text: ofShape.get(text, compose),
    values: [...values, new Date(), resource, ...Object.values(shared)],
  }
}

/** The audit entries for changes, for engines that insert them with a separate statement. */
export function auditEntries(
  { shared, resource, shown, secrets, kept = [] }: Audit,
  changes: readonly AuditedChange[],
): NewRow<AuditEntry>[] {
  const common = { ...shared, resource, at: new Date() }
  const text = (row: Entity, written: object) => JSON.stringify(shownRecord({ shown, secrets }, row, written))
  return changes.map((change) => {
    const { before, after, written = {} } = change
    return {
      ...common,
      record_id: ((after ?? before) as Entity).id,
      before: before === undefined ? null : text(before, {}),
      after: after === undefined ? null : text(after, written),
      kept: kept.length === 0 ? null : keptJson(kept, change),
    }
  })
}

/** The hidden columns of a change as JSON: of each, the value before and the digest of the value after; null if all are null. */
function keptJson(kept: readonly string[], { before, after, written = {} }: AuditedChange): string | null {
  const isUpdate = before !== undefined && after !== undefined
  const columns = isUpdate ? kept.filter((column) => isWritten(written, column)) : kept
  const values = columns.map((column): [string, [unknown, string | null]] => [
    column,
    [
      before === undefined ? null : shownValue(before, column),
      after === undefined ? null : digest(shownValue(after, column)),
    ],
  ])
  const isEmpty = values.every(([, [old, now]]) => old === null && now === null)
  return isEmpty ? null : JSON.stringify(Object.fromEntries(values))
}

/** The same in SQL. @param before the prefix of the columns before the change; @param after of those after it */
function keptText(
  kept: string[],
  columns: Record<string, Kind>,
  before: string | undefined,
  after: string | undefined,
) {
  const prefixes = [before, after].flatMap((prefix) => prefix ?? [])
  const isEmpty = prefixes.flatMap((prefix) => kept.map((column) => `${quote(prefix + column)} IS NULL`)).join(' AND ')
  const pairs = kept.map((column) => {
    const text = (prefix: string) => shownText(prefix + column, columns[column] as Kind)
    const old = before === undefined ? 'NULL::text' : text(before)
    const now = after === undefined ? 'NULL::text' : `encode(sha256(convert_to(${text(after)}::text, 'UTF8')), 'hex')`
    return `'${column}', json_build_array(${old}, ${now})`
  })
  return `CASE WHEN ${isEmpty} THEN NULL ELSE json_build_object(${pairs.join(', ')})::text END`
}

/** The digest by which a hidden value can be recognized; null for null. */
export function digest(value: unknown): string | null {
  return value === null ? null : createHash('sha256').update(String(value)).digest('hex')
}

/** Whether a change writes a column, also with null. */
function isWritten(change: object, column: string): boolean {
  return Reflect.get(change, column) !== undefined
}

/** A value as an entry has it. */
function shownValue(row: object, column: string): Value {
  const value = (row as Record<string, Value | Date>)[column] ?? null
  return value instanceof Date ? timestamp(value) : value
}

/**
 * A record as audit entries have it.
 *
 * @param written the columns of the change; those of secrets appear as `set`
 */
export function shownRecord(
  { shown, secrets }: Pick<AuditedTable, 'shown' | 'secrets'>,
  row: object,
  written: object = {},
): Record<string, Value> {
  const record: Record<string, Value> = {}
  for (const name of shown) {
    record[name] = shownValue(row, name)
  }
  for (const { column, field } of secrets) if (isSet(written, column)) record[field] = 'set'
  return record
}

/** SQL for a value as the API returns it. */
function shownText(column: string, kind: Kind): string {
  return kind.startsWith('date') ? `to_char(${quote(column)}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')` : quote(column)
}
