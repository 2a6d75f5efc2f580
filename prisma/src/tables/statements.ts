import { Recent } from '../recent.ts'
import { columnTypes } from './column-types.ts'
import type { Declaration } from './declarations.ts'
import { type LockMode, ReadStatements } from './read-statements.ts'
import { columnsSet } from './row-writes.ts'
import { type Insertion, isSet, names, quote, type Statement } from './sql.ts'
import type { Changes, Kind, Where } from './types.ts'

/** The prefix of columns that hold the values before an update. */
export const BEFORE = 'before '
const GIVEN = 'given '
/** The column with the place of a row in an update of many. */
export const ORDINAL = `${GIVEN}ordinal`

// Keeps the stored time if the clock was set back.
const LATER = 'WHEN "updated_at" > ? THEN "updated_at"'

/** The statements of one table. */
export class SqlText<Row> extends ReadStatements<Row> {
  readonly insertion: Insertion
  /** The insertion of rows with their ids. */
  readonly restoration: Insertion
  /** Each column, and the column with its value before an update. */
  readonly changed: readonly (readonly [column: string, before: string])[]
  readonly #before: string
  readonly #beforeNames: string
  readonly #kinds: Readonly<Record<string, Kind>>
  readonly #referenced: [column: string, table: string][]
  /** The texts of {@link updateReturning} by their shape. */
  readonly #updates = new Recent<string, string>(100)

  /**
   * @param isRemote whether the statements are for PostgreSQL, not SQLite
   * @param referenced the columns that reference a table, and its name in SQL
   */
  constructor(declaration: Declaration<Row>, isRemote: boolean, referenced: [column: string, table: string][]) {
    super(declaration, isRemote)
    const { name, key, unique, columns } = declaration
    this.#referenced = referenced
    const kinds = Object.entries<Kind>(columns).map(([name, kind]) => ({ name, kind }))
    const inserted = kinds.filter(({ name }) => name !== 'id')
    const sets = [key, ...unique.map((column) => [column])].map((set) => set.map(String))
    const insertionOf = (columns: typeof kinds) =>
      `INSERT INTO ${quote(name)} (${names(columns.map(({ name }) => name))}) VALUES (${columns.map(() => '?').join(', ')})`
    this.insertion = {
      text: insertionOf(inserted),
      table: name,
      columns: inserted,
      hasId: 'id' in columns,
      unique: sets.filter(([first]) => first !== 'id'),
    }
    this.restoration = { text: insertionOf(kinds), table: name, columns: kinds, hasId: false, unique: sets }
    this.#kinds = columns
    this.changed = kinds.map(({ name }) => [name, BEFORE + name])
    this.#before = this.changed.map(([name, before]) => `${quote(name)} AS ${quote(before)}`).join(', ')
    this.#beforeNames = names(this.changed.map(([, before]) => before))
  }

  /** An update of a row that exists and differs from the changes. */
  update(id: number, changes: Changes<Row>): Statement {
    const values: unknown[] = []
    let assignments = ''
    for (const [column, value] of Object.entries(changes)) {
      if (value === undefined) continue
      values.push(value)
      if (column !== 'updated_at') assignments += `${quote(column)} = ?, `
      else {
        assignments += `"updated_at" = CASE ${LATER} ELSE ? END, `
        values.push(value)
      }
    }
    values.push(id)
    return { text: `UPDATE ${this.table} SET ${assignments}"version" = "version" + 1 WHERE "id" = ?`, values }
  }

  /**
   * An update that returns the new row, and its previous values in columns with the prefix {@link BEFORE}. The lock makes
   * those the values that the update replaces, not older ones from the statement's snapshot. A row that already has all
   * values keeps its version and its `updated_at`.
   */
  updateReturning(id: number, versions: number[] | undefined, changes: Changes<Row>): Statement {
    const { updated_at: time, ...set } = changes as Record<string, unknown>
    const columns = columnsSet(set)
    const written = columns.map((column) => set[column])
    const referred = this.#referenced.filter(([column]) => isSet(set, column))
    const values = [...referred.map(([column]) => set[column]), ...written, id, ...written]
    if (time !== undefined) values.push(time, time)
    values.push(id)
    if (versions !== undefined) values.push(versions)
    const shape = `${columns} ${referred.map(([column]) => column)} ${time !== undefined} ${versions !== undefined}`
    const text = () => this.#updateText(columns, referred, time !== undefined, versions !== undefined)
    return { text: this.#updates.get(shape, text), values }
  }

  #updateText(columns: string[], referred: [string, string][], isTimed: boolean, isOfVersion: boolean): string {
    const isSame = columns.map((column) => `${quote(column)} IS NOT DISTINCT FROM ?`).join(' AND ') || 'TRUE'
    const assignments = columns.map((column) => `${quote(column)} = ?, `).join('')
    // Locks the records that the new values refer to before the row, as a delete of such a record does.
    const parents = referred.map(
      ([, table], at) => `"parent${at}" AS MATERIALIZED (SELECT 1 FROM ${quote(table)} WHERE "id" = ? FOR KEY SHARE), `,
    )
    const isLocked = referred.map((_, at) => ` AND (SELECT count(*) FROM "parent${at}") >= 0`)
    const updatedAt = isTimed ? `"updated_at" = CASE WHEN "is same" THEN "updated_at" ${LATER} ELSE ? END, ` : ''
    const version = '"version" = CASE WHEN "is same" THEN "version" ELSE "version" + 1 END'
    const condition = ` WHERE "id" = ?${isOfVersion ? ' AND "version" = ANY(?::int[])' : ''}`
    // The lock that PostgreSQL's own UPDATE takes.
    const mode: LockMode = columns.some((column) => this.insertion.unique.flat().includes(column))
      ? 'UPDATE'
      : 'NO KEY UPDATE'
    const stored = `SELECT ${this.#before}, ${isSame} AS "is same" FROM ${this.table} WHERE "id" = ?${isLocked.join('')} FOR ${mode}`
    return `WITH ${parents.join('')}"stored" AS (${stored}) UPDATE ${this.table} SET ${assignments}${updatedAt}${version} FROM "stored"${condition} RETURNING ${this.columns}, ${this.#beforeNames}`
  }

  /**
   * An update of the same columns of several rows, which the transaction has locked. It returns what {@link updateReturning}
   * returns, in any order, with the {@link ORDINAL} of each row.
   */
  updateMany(rows: readonly { id: number; versions?: number[] | undefined; change: Changes<Row> }[]): Statement {
    const columns = columnsSet((rows[0] as { change: object }).change)
    const kinds = this.#kinds
    const types = ['id', ...columns].map((column) => columnTypes[kinds[column] as Kind])
    const arrays = types.map((type) => `?::${type}[]`)
    const given = (column: string) => quote(GIVEN + column)
    const names = ['id', ...columns, 'versions', 'ordinal'].map(given).join(', ')
    const set = columns.filter((column) => column !== 'updated_at')
    const isSame = set.map((column) => `${quote(column)} IS NOT DISTINCT FROM ${given(column)}`).join(' AND ') || 'TRUE'
    const assignments = set.map((column) => `${quote(column)} = ${given(column)}, `).join('')
    const updatedAt = columns.includes('updated_at')
      ? `"updated_at" = CASE WHEN ${isSame} THEN "updated_at" ELSE GREATEST("updated_at", ${given('updated_at')}) END, `
      : ''
    return {
      text: `UPDATE ${this.table} SET ${assignments}${updatedAt}"version" = CASE WHEN ${isSame} THEN "version" ELSE "version" + 1 END
        FROM (SELECT ${this.#before}, "given".* FROM ${this.table}
          JOIN unnest(${arrays.join(', ')}, ?::text[]) WITH ORDINALITY AS "given" (${names}) ON "id" = ${given('id')}) AS "stored"
        WHERE "id" = ${given('id')} AND (${given('versions')} IS NULL OR "version" = ANY(${given('versions')}::int[]))
        RETURNING ${this.columns}, ${this.#beforeNames}, ${quote(ORDINAL)}`,
      values: [
        rows.map(({ id }) => id),
        ...columns.map((column) => rows.map(({ change }) => (change as Record<string, unknown>)[column])),
        rows.map(({ versions }) => (versions === undefined ? null : `{${versions.join(',')}}`)),
      ],
    }
  }

  deleteReturning(id: number, versions: number[] | undefined): Statement {
    const values: unknown[] = []
    const condition = ofVersion(id, versions, values, this.isRemote)
    return { text: `DELETE FROM ${this.table}${condition} RETURNING ${this.columns}`, values }
  }

  /** @param limit all matching rows if absent */
  deleteAll(where: Where<Row>, limit?: number): Statement {
    const { text: some, values } = this.selectForDelete(where, limit, this.key)
    // Without MATERIALIZED, PostgreSQL may run the SELECT more than once, with different rows each time.
    const chosen = this.isRemote ? `WITH "chosen" AS MATERIALIZED (${some}) ` : ''
    const keys = this.isRemote ? `SELECT ${this.key} FROM "chosen"` : some
    return { text: `${chosen}DELETE FROM ${this.table} WHERE (${this.key}) IN (${keys})`, values }
  }

  /**
   * Selects the rows for a delete. On PostgreSQL it locks them in the order of their keys, as every write does: two writes
   * that lock the same rows in different orders would deadlock.
   *
   * @param limit all matching rows if absent
   */
  selectForDelete(where: Where<Row>, limit?: number, columns = this.columns): Statement {
    const values: unknown[] = []
    const rows = this.filtered(`SELECT ${columns} FROM ${this.table}`, where, values)
    if (limit !== undefined) values.push(limit)
    const limited = limit === undefined ? '' : ' LIMIT ?'
    // SQLite has a single writer and needs no row locks.
    return { text: this.isRemote ? `${rows} ORDER BY ${this.key}${limited} FOR UPDATE` : rows + limited, values }
  }

  /**
   * Locks rows on PostgreSQL, in the order of their ids.
   *
   * @param lists the locked rows have one of the values in one of the columns
   */
  lock(lists: [column: string, values: unknown[]][], mode: LockMode): Statement {
    const tests = lists.map(([column]) => `${this.conditions.name(column as keyof Row)} = ANY(?::int[])`)
    return {
      text: `SELECT "id" FROM ${this.table} WHERE ${tests.join(' OR ')} ORDER BY "id" FOR ${mode}`,
      values: lists.map(([, values]) => values),
    }
  }

  /**
   * Locks the unique values of the table on PostgreSQL. Writes that lock them for one order of values share the lock; a write
   * in another order excludes them.
   */
  lockUniqueValues(mode: 'shared' | 'exclusive'): Statement {
    const lock = mode === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock'
    return { text: `SELECT ${lock}(hashtextextended(?, 0))`, values: [`unique values of ${this.insertion.table}`] }
  }

  deleteSomeReturning(where: Where<Row>, limit: number): Statement {
    const { text, values } = this.deleteAll(where, limit)
    return { text: `${text} RETURNING ${this.columns}`, values }
  }
}

// An array is passed as one value, so the text does not depend on its length.
function ofVersion(id: number, versions: number[] | undefined, values: unknown[], asArray: boolean): string {
  values.push(id)
  if (versions === undefined) return ' WHERE "id" = ?'
  if (asArray) {
    values.push(versions)
    return ' WHERE "id" = ? AND "version" = ANY(?::int[])'
  }
  values.push(...versions)
  return ` WHERE "id" = ? AND "version" IN (${versions.map(() => '?').join(', ') || 'NULL'})`
}
