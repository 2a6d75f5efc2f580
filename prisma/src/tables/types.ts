/** A condition on one column: a single value, a range, or not null. */
type Condition<Value> = Value | Range<NonNullable<Value>> | { not: null } | undefined

/** Bounds and a list of values; never matches null. */
export interface Range<Value> {
  lt?: Value | undefined
  lte?: Value | undefined
  gt?: Value | undefined
  gte?: Value | undefined
  /** An empty list matches nothing. */
  in?: readonly Value[] | undefined
  /** Texts that begin with this one. */
  startsWith?: string | undefined
  /** Texts that contain words, or several such conditions. */
  contains?: Contains | readonly Contains[] | undefined
}

/**
 * A search for words. Each must occur in at least one column: a word of three or more characters anywhere, a shorter one at
 * the beginning of the text or after a space. Only columns of the search index (`@search` in schema.prisma) are searched fast.
 */
export interface Contains {
  /** In the form of `searchKey`, without spaces. */
  words: readonly string[]
  /** The column of the condition by default. */
  columns?: readonly string[] | undefined
}

/** Conditions combined with AND. Undefined is no condition, null is a value. Text compares by code point. */
export type Where<Row> = { [Column in keyof Row]?: Condition<Row[Column]> }

export interface Order<Row> {
  column: keyof Row
  descending: boolean
}

export interface PageQuery<Row, Column extends keyof Row = keyof Row> {
  /** The columns to read; all by default. */
  columns?: readonly Column[] | undefined
  where: Where<Row>
  /**
   * The keyset ranges after a cursor, in sort order, in addition to `where`. `columns` must include the sort column.
   */
  seek?: readonly Where<Row>[] | undefined
  /** Ties are ordered by ascending `id`. Null sorts below every value. */
  order: Order<Row>
  skip?: number
  take: number
}

export interface SummaryQuery<Row> {
  where: Where<Row>
  /** Groups the rows by the values of this column. Without it all rows are one group, with the value null. */
  by?: keyof Row | undefined
  /** The column of the numbers to summarize. */
  of?: keyof Row | undefined
  /** The maximum number of groups. */
  limit: number
}

/** A group of rows. */
export interface Summary {
  value: unknown
  count: number
  /** Null without a column of numbers, and for a group in which all of them are null. */
  minimum: number | null
  mean: number | null
  maximum: number | null
}

/** The columns that every record has. */
export interface Entity {
  id: number
  /** Incremented by each write. */
  version: number
}

type Nullable<Row> = { [Column in keyof Row]: null extends Row[Column] ? Column : never }[keyof Row]

/** A row to insert. `id` and `version` are assigned; an omitted column is null. */
export type NewRow<Row> = Omit<Row, keyof Entity | Nullable<Row>> & Partial<Pick<Row, Nullable<Row>>>

/** Undefined values are not changed. */
export type Changes<Row> = { [Column in Exclude<keyof Row, keyof Entity>]?: Row[Column] | undefined }

/** The kind of a column's values; `?` means nullable. Values of `bigint` are integers up to 2^53 - 1. */
export type Kind = SetKind | `${Exclude<SetKind, 'bigint'>}?`

type SetKind = 'int' | 'bigint' | 'float' | 'text' | 'bool' | 'date'

type KindOf<Value> = null extends Value ? `${Exclude<KindOfSet<NonNullable<Value>>, 'bigint'>}?` : KindOfSet<Value>

type KindOfSet<Value> = [Value] extends [number]
  ? 'int' | 'bigint' | 'float'
  : [Value] extends [string]
    ? 'text'
    : [Value] extends [boolean]
      ? 'bool'
      : [Value] extends [Date]
        ? 'date'
        : never

/** The columns of a model and their kinds. A column that does not match the model's type does not compile. */
export type Columns<Row> = { readonly [Column in keyof Row]: KindOf<Row[Column]> }

/** A table. Inside a write, its methods run in the transaction. */
export interface Table<Row> {
  readonly columns: Columns<Row>
  /**
   * Returns any one matching row.
   *
   * @param columns the columns to read; all by default
   */
  find<Column extends keyof Row = keyof Row>(
    where: Where<Row>,
    columns?: readonly Column[],
  ): Promise<Pick<Row, Column> | undefined>
  count(where: Where<Row>): Promise<number>
  /** @throws UniqueViolation or ReferenceViolation */
  write<W extends readonly Create<Row>[] | []>(rows: W): Promise<WrittenRows<W, Row>>
  /**
   * Deletes all matching rows of a table that is not audited, or at most `limit` of them, with one statement.
   *
   * @returns their number
   * @throws ReferenceViolation
   */
  deleteAll(where: Where<Row>, limit?: number): Promise<number>
}

/** A table whose rows have an id. */
export interface ListTable<Row extends Pick<Entity, 'id'>> extends Table<Row> {
  page<Column extends keyof Row = keyof Row>(query: PageQuery<Row, Column>): Promise<Pick<Row, Column>[]>
  /**
   * Set if the database has no search index: a `page` with a `contains` condition then finds matches among this number of rows
   * only, the first ones in sort order or after the cursor.
   */
  readonly searchLimit: number | undefined
  /** Summarizes groups of matching rows: the largest groups first, those of equal size in ascending order of the value. */
  summarize(query: SummaryQuery<Row>): Promise<Summary[]>
  /**
   * Writes all rows or none, in their order. Neighbors are written together where one statement can; on SQLite other requests
   * are served in between. An id is a row's own, and ids of new rows ascend.
   *
   * A change increments the version. One that equals the stored values leaves the row unchanged, including version and
   * `updated_at`, which never decreases. The writing statement itself checks version and values, so no other write can
   * interleave.
   *
   * @returns each row before and after its write; undefined if there was none with this id and version, which the other
   * writes do not depend on
   * @throws UniqueViolation or ReferenceViolation, for a create or a restored record with the `index` of the first violating row
   */
  write<W extends readonly RowWrite<Row>[] | []>(rows: W): Promise<WrittenRows<W, Row>>
}

interface Target {
  id: number
  /** The accepted versions; any when undefined. */
  versions?: number[] | undefined
}

interface Create<Row> {
  create: NewRow<Row>
}

/** A deleted record is stored again, with its id and version. */
interface Restore<Row> {
  restore: Row
}

/** The write of one row. */
export type RowWrite<Row> =
  | Create<Row>
  | Restore<Row>
  | (Target & { change: Changes<Row> })
  | (Target & { delete: true })

/** What a write of rows returns: a tuple for a tuple. */
export type WrittenRows<W, Row> = { -readonly [I in keyof W]: WrittenBy<W[I], Row> }

/** What a write of one row returns. */
type WrittenBy<W, Row> = W extends { create: unknown } | { restore: unknown }
  ? { after: Row }
  : W extends { change: unknown }
    ? Change<Row> | undefined
    : { before: Row } | undefined

/** A record before and after a write. */
export interface Change<Row> {
  before: Row
  after: Row
}

/** Whether changes equal the stored values. `updated_at` is ignored: it alone is not a change. */
export function isUnchanged<Row extends Entity>(row: Row, changes: Changes<Row>): boolean {
  return Object.entries<unknown>(changes).every(
    ([column, value]) => value === undefined || column === 'updated_at' || isSame(row[column as keyof Row], value),
  )
}

function isSame(stored: unknown, value: unknown): boolean {
  if (stored instanceof Date && value instanceof Date) return stored.getTime() === value.getTime()
  return stored === value
}

/** A table of records with id and version. */
export interface RecordTable<Row extends Entity> extends ListTable<Row> {
  /**
   * Returns ids and versions of at most `limit` matching records, in the order of their ids. Inside a write no other write can
   * change these records until its end.
   *
   * @param use `delete`: no other write can refer to them either, which would prevent the deletion
   */
  lock(where: Where<Row>, limit: number, use?: 'delete'): Promise<Pick<Row, 'id' | 'version'>[]>
  /**
   * Takes the locks for the writes of many rows before the first of them, in the order of every write: unique values, records
   * that the rows refer to, the records by ascending id, records that deletes cascade to. Writes that lock in different orders
   * would deadlock. A change without an id is one whose record is not known yet. Has no effect on SQLite, where writes run one
   * after another. `write` does the same for its rows.
   */
  lockFor(rows: readonly (RowWrite<Row> | { change: Changes<Row> })[]): Promise<void>
}
