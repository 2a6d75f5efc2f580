import type { AuditEntry } from '../generated/client.ts'
import { quote, type Statement } from './sql-text.ts'
import type { Kind } from './table.ts'
import { timestamp } from './timestamp.ts'

/** What the audit log records of the changes that one call makes. */
export interface AuditContext {
  /** What all its entries have in common. */
  shared: Pick<AuditEntry, 'actor' | 'actor_detail' | 'procedure' | 'request_id' | 'address'>
  /** The tables whose changes are recorded. */
  tables: { readonly [name: PropertyKey]: AuditedTable | undefined }
}

/** How the entries show a record of one table. */
interface AuditedTable {
  resource: string
  /** The columns that are shown. */
  shown: readonly string[]
  /** Columns whose values are never shown. That one was set is, under the name of `field`. */
  secrets: readonly { column: string; field: string }[]
}

/** What is recorded of one table in one call. */
export type Audit = AuditedTable & Pick<AuditContext, 'shared'>

/** One change of a record. */
export interface AuditedChange {
  before?: object
  after?: object
  /** The columns that were written. */
  written?: object
}

/** How a statement returns the rows that it writes. */
export interface AuditedStatement {
  /** The prefix of the columns that hold the record before; absent where there was none. */
  before?: string
  /** The same of the record afterwards. */
  after?: string
  /** What an update writes. */
  changes?: object
  /** What is selected of the rows; all when absent. */
  answer?: string
}

// As many as statements have names.
const MOST_TEXTS = 500
const texts = new Map<string, Map<string, string>>()

/**
 * Extends a PostgreSQL statement that writes rows and returns them: it also inserts an audit entry for each. Neither can be
 * stored without the other, and both take one round trip.
 */
export function withAuditInsert(
  { text, values }: Statement,
  columns: Record<string, Kind>,
  { shared, resource, shown, secrets }: Audit,
  { before, after, changes, answer = '*' }: AuditedStatement,
): Statement {
  const written = secrets.filter(({ column }) => changes === undefined || isSet(changes, column))
  const names = ['resource', ...Object.keys(shared)]

  const compose = () => {
    const record = (prefix: string | undefined) => {
      if (prefix === undefined) return 'NULL'
      const fields = shown.map((name) => `'${name}', ${shownText(prefix + name, columns[name] as Kind)}`)
      return `json_build_object(${fields.join(', ')})::text`
    }
    // Each row is asked: one may have a password, another none.
    const marks = (prefix: string) =>
      written.map(
        ({ column, field }) => `CASE WHEN ${quote(prefix + column)} IS NULL THEN '' ELSE ', "${field}" : "set"' END`,
      )
    const isMarked = after !== undefined && written.length > 0
    const recordAfter = isMarked ? `left(${record(after)}, -1) || ${marks(after).join(' || ')} || '}'` : record(after)
    // An update that changed nothing has left the version.
    const which = changes === undefined ? '' : ` WHERE "version" <> ${quote(`${before}version`)}`
    return `WITH "written" AS (${text}), "entered" AS (
      INSERT INTO "audit_entries" ("at", ${names.map(quote).join(', ')}, "record_id", "before", "after")
      SELECT ?::timestamp, ${names.map(() => '?').join(', ')}, "id", ${record(before)}, ${recordAfter}
      FROM "written"${which} ORDER BY "id"
    ) SELECT ${answer} FROM "written"`
  }

  return {
    text: remembered(`${answer} ${written.map(({ column }) => column)}`, text, compose),
    values: [...values, new Date(), resource, ...Object.values(shared)],
  }
}

/** The audit entries of changes, where they are inserted by a statement of their own. */
export function auditEntries(
  { shared, resource, shown, secrets }: Audit,
  changes: AuditedChange[],
): Omit<AuditEntry, 'id'>[] {
  const common = { ...shared, resource, at: new Date() }
  const shownOf = (row: object, written: object) => {
    const record: Record<string, unknown> = {}
    for (const name of shown) {
      const value = (row as Record<string, unknown>)[name]
      record[name] = value instanceof Date ? timestamp(value) : value
    }
    for (const { column, field } of secrets) if (isSet(written, column)) record[field] = 'set'
    return JSON.stringify(record)
  }
  return changes.map(({ before, after, written = {} }) => ({
    ...common,
    record_id: ((after ?? before) as { id: number }).id,
    before: before === undefined ? null : shownOf(before, {}),
    after: after === undefined ? null : shownOf(after, written),
  }))
}

/** A value as the API shows it. */
function shownText(column: string, kind: Kind): string {
  return kind.startsWith('date') ? `to_char(${quote(column)}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')` : quote(column)
}

function isSet(written: object, column: string): boolean {
  return (written as Record<string, unknown>)[column] != null
}

function remembered(variant: string, text: string, compose: () => string): string {
  const ofVariant = texts.get(variant) ?? new Map<string, string>()
  texts.set(variant, ofVariant)
  const known = ofVariant.get(text)
  if (known !== undefined) return known
  const composed = compose()
  if (ofVariant.size < MOST_TEXTS) ofVariant.set(text, composed)
  return composed
}
