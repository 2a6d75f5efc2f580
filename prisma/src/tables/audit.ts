import type { AuditEntry } from '../../generated/client.ts'
import { Recent } from '../recent.ts'
import { isSet, quote, type Statement } from './sql.ts'
import { timestamp } from './timestamp.ts'
import type { Entity, Kind } from './types.ts'

/** The audit data of one call: the values that its entries share, and the tables that are audited. */
export interface AuditContext {
  /** The columns whose values are the same in all entries of the call. */
  shared: Pick<AuditEntry, 'actor' | 'actor_detail' | 'procedure' | 'request_id' | 'address'>
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
}

/** The audit data of one call for one table. */
export type Audit = AuditedTable & Pick<AuditContext, 'shared'>

/** One change of a record. */
export interface AuditedChange {
  before?: Entity
  after?: Entity
  /** The written columns. */
  written?: object
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

/** By what they return and the secrets in it, then by the text of the statement. A key of both would be hashed each time. */
const texts = new Map<string, Recent<string, string>>()

/**
 * Extends a PostgreSQL statement that writes and returns rows: it also inserts one audit entry per row. One statement makes
 * both writes atomic and takes one round trip.
 */
export function withAuditInsert(
  { text, values }: Statement,
  columns: Record<string, Kind>,
  { shared, resource, shown, secrets }: Audit,
  { before, after, changes, returning = '*', order = '"id"' }: AuditedStatement,
): Statement {
  const written = secrets.filter(({ column }) => changes === undefined || isSet(changes, column))
  const names = ['resource', ...Object.keys(shared)]

  const compose = () => {
    const record = (prefix: string | undefined) => {
      if (prefix === undefined) return 'NULL'
      const fields = shown.map((name) => `'${name}', ${shownText(prefix + name, columns[name] as Kind)}`)
      return `json_build_object(${fields.join(', ')})::text`
    }
    // Per row: one row may have a password and another may not.
    const secretFields = (prefix: string) =>
      written.map(
        ({ column, field }) => `CASE WHEN ${quote(prefix + column)} IS NULL THEN '' ELSE ', "${field}" : "set"' END`,
      )
    const hasSecrets = after !== undefined && written.length > 0
    const recordAfter = hasSecrets
      ? `left(${record(after)}, -1) || ${secretFields(after).join(' || ')} || '}'`
      : record(after)
    // An update that changes nothing keeps the version.
    const condition = changes === undefined ? '' : ` WHERE "version" <> ${quote(`${before}version`)}`
    return `WITH "written" AS (${text}), "audit" AS (
      INSERT INTO "audit_entries" ("at", ${names.map(quote).join(', ')}, "record_id", "before", "after")
      SELECT ?::timestamp, ${names.map(() => '?').join(', ')}, "id", ${record(before)}, ${recordAfter}
      FROM "written"${condition} ORDER BY ${order}
    ) SELECT ${returning} FROM "written"`
  }

  const variant = `${returning} ${written.map(({ column }) => column)}`
  let ofVariant = texts.get(variant)
  if (ofVariant === undefined) {
    ofVariant = new Recent(500)
    texts.set(variant, ofVariant)
  }
  return {
    text: ofVariant.get(text, compose),
    values: [...values, new Date(), resource, ...Object.values(shared)],
  }
}

/** The audit entries for changes, for engines that insert them with a separate statement. */
export function auditEntries(
  { shared, resource, shown, secrets }: Audit,
  changes: readonly AuditedChange[],
): Omit<AuditEntry, 'id'>[] {
  const common = { ...shared, resource, at: new Date() }
  const text = (row: Entity, written: object) => JSON.stringify(shownRecord({ shown, secrets }, row, written))
  return changes.map(({ before, after, written = {} }) => ({
    ...common,
    record_id: ((after ?? before) as Entity).id,
    before: before === undefined ? null : text(before, {}),
    after: after === undefined ? null : text(after, written),
  }))
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
    const value = (row as Record<string, Value | Date>)[name] ?? null
    record[name] = value instanceof Date ? timestamp(value) : value
  }
  for (const { column, field } of secrets) if (isSet(written, column)) record[field] = 'set'
  return record
}

/** SQL for a value as the API returns it. */
function shownText(column: string, kind: Kind): string {
  return kind.startsWith('date') ? `to_char(${quote(column)}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')` : quote(column)
}
