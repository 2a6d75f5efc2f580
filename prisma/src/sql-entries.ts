import { quote, type Statement } from './sql-text.ts'
import type { Entering, Kind } from './table.ts'

/** What is told of the rows that a statement writes and gives. */
export interface Told {
  /** How the columns begin that hold the record before; absent where there was none. */
  before?: string
  /** The same of the record since. */
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
 * A statement of PostgreSQL that writes rows and gives them, made to enter each of them in the audit log as well: so
 * neither can be without the other, and both are one journey.
 */
export function withEntries(
  { text, values }: Statement,
  columns: Record<string, Kind>,
  { shared, shown, secret }: Entering,
  { before, after, changes, answer = '*' }: Told,
): Statement {
  // Of rows that are inserted each is looked at: one has a password, another none.
  const isSecretWritten =
    secret !== undefined && after !== undefined && (changes === undefined || isSet(changes, secret.column))
  const names = Object.keys(shared)

  const compose = () => {
    const fields = (prefix: string) =>
      shown.map((name) => `'${name}', ${shownText(prefix + name, columns[name] as Kind)}`).join(', ')
    const recordBefore = before === undefined ? 'NULL' : `json_build_object(${fields(before)})::text`
    let recordAfter = after === undefined ? 'NULL' : `json_build_object(${fields(after)})::text`
    if (isSecretWritten) {
      const withSecret = `json_build_object(${fields(after)}, '${secret.field}', 'set')::text`
      recordAfter = `CASE WHEN ${quote(after + secret.column)} IS NULL THEN ${recordAfter} ELSE ${withSecret} END`
    }
    // An update that changed nothing has left the version.
    const which = changes === undefined ? '' : ` WHERE "version" <> ${quote(`${before}version`)}`
    return `WITH "written" AS (${text}), "entered" AS (
      INSERT INTO "audit_entries" ("at", ${names.map(quote).join(', ')}, "record_id", "before", "after")
      SELECT ?::timestamp, ${names.map(() => '?').join(', ')}, "id", ${recordBefore}, ${recordAfter}
      FROM "written"${which} ORDER BY "id"
    ) SELECT ${answer} FROM "written"`
  }

  return {
    text: remembered(`${answer} ${isSecretWritten}`, text, compose),
    values: [...values, new Date(), ...Object.values(shared)],
  }
}

/** A value as the API shows it. */
function shownText(column: string, kind: Kind): string {
  return kind.startsWith('date') ? `to_char(${quote(column)}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')` : quote(column)
}

function isSet(changes: object, column: string): boolean {
  return (changes as Record<string, unknown>)[column] != null
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
