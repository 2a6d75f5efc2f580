/** The values of one column that are meant: a single one, a range, or all but null. */
type Condition<Value> = Value | Range<NonNullable<Value>> | { not: null } | undefined

/** The values between bounds and in a list, of which null is none. */
export interface Range<Value> {
  lt?: Value | undefined
  lte?: Value | undefined
  gt?: Value | undefined
  gte?: Value | undefined
  /** Nothing matches an empty list. */
  in?: readonly Value[] | undefined
}

/** Conditions that all hold. What is undefined is no condition; null is a value, and text compares by code point. */
export type Where<Row> = { [Column in keyof Row]?: Condition<Row[Column]> }

export interface Order<Row> {
  column: keyof Row
  descending: boolean
}

export interface PageQuery<Row, Column extends keyof Row = keyof Row> {
  /** What is read of each row; every column when absent. */
  columns?: readonly Column[] | undefined
  where: Where<Row>
  /**
   * What lies beyond a cursor, as ranges whose rows stand one after the other; they hold beside `where`. The column of the
   * order must be among `columns`.
   */
  beyond?: readonly Where<Row>[] | undefined
  /** `id` breaks ties, ascending; null stands below every value. */
  order: Order<Row>
  skip?: number
  take: number
}

/** What every record has beside its own columns. */
export interface Entity {
  id: number
  /** Grows by one with each write. */
  version: number
}

type Nullable<Row> = { [Column in keyof Row]: null extends Row[Column] ? Column : never }[keyof Row]

/** A row about to be stored: `id` and `version` are given to it; a column that is left out is null. */
export type NewRow<Row> = Omit<Row, keyof Entity | Nullable<Row>> & Partial<Pick<Row, Nullable<Row>>>

/** What is undefined stays as it is. */
export type Changes<Row> = { [Column in Exclude<keyof Row, keyof Entity>]?: Row[Column] | undefined }

/** The kind of a column's values; `?` marks those that may be null. Those of `bigint` are whole numbers up to 2^53 - 1. */
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

/** The columns of a model, each with its kind. One that the model lacks, or has of another type, does not compile. */
export type Columns<Row> = { readonly [Column in keyof Row]: KindOf<Row[Column]> }

/** A table as stores use it; in a write, of its transaction. */
export interface Table<Row> {
  readonly columns: Columns<Row>
  /**
   * The row of these values; of several, any.
   *
   * @param columns what is read of it; every column when absent
   */
  find<Column extends keyof Row = keyof Row>(
    where: Where<Row>,
    columns?: readonly Column[],
  ): Promise<Pick<Row, Column> | undefined>
  count(where: Where<Row>): Promise<number>
  /** @throws UniqueViolation or ReferenceViolation */
  insert(row: NewRow<Row>): Promise<Row>
  /**
   * Removes what matches and tells how much that was. Other requests are served in between, however much it is.
   *
   * @throws ReferenceViolation
   */
  deleteAll(where: Where<Row>): Promise<number>
}

/** A table whose rows have an id. */
export interface ListTable<Row extends Pick<Entity, 'id'>> extends Table<Row> {
  page<Column extends keyof Row = keyof Row>(query: PageQuery<Row, Column>): Promise<Pick<Row, Column>[]>
  /**
   * Stores all rows or none, and gives them back in the same order, which is that of their ids. Other requests are served
   * in between, however many they are.
   *
   * @throws UniqueViolation or ReferenceViolation whose `index` is that of the first row that cannot be stored
   */
  insertMany(rows: NewRow<Row>[]): Promise<Row[]>
  /**
   * Removes at most so many of the rows that match, and gives those that it removed; fewer when there are no more.
   *
   * @throws ReferenceViolation
   */
  deleteSome(where: Where<Row>, most: number): Promise<Row[]>
}

/** What a write made of a record. */
export interface Change<Row> {
  before: Row
  after: Row
}

/** Whether changes would leave a record as it is. `updated_at` says when it changed, and is no change by itself. */
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
   * Writes changes into a record and adds one to its version. Changes that are what is stored already leave the record as
   * it is, version and `updated_at` included. The writing statement itself looks at version and values, so no other write
   * can come in between. `updated_at` stays where it is rather than go back.
   *
   * @param versions those the record may have; any when undefined
   * @returns the record as it was and as it is now, of one version where nothing changed; or undefined when there is none
   * of that id and version
   * @throws UniqueViolation or ReferenceViolation
   */
  update(id: number, versions: number[] | undefined, changes: Changes<Row>): Promise<Change<Row> | undefined>
  /**
   * Deletes a record by the same rules, and gives what it was.
   *
   * @throws ReferenceViolation
   */
  delete(id: number, versions: number[] | undefined): Promise<Row | undefined>
}
