/** A row was not written because another one has the same values in columns where no two may. */
export class UniqueViolation extends Error {
  /** Empty when the engine does not tell them. */
  readonly columns: string[]
  /** Of several rows written at once, the first that could not be. */
  readonly index: number | undefined

  constructor(columns: string[], { index, cause }: { index?: number; cause?: unknown } = {}) {
    super(`Another row has the same ${columns.join(', ') || 'values'}.`, { cause })
    this.columns = columns
    this.index = index
  }
}

/** What a row refers to is not there, or a row was not deleted because others refer to it. */
export class ReferenceViolation extends Error {
  /**
   * The columns whose record is not there; PostgreSQL names one. Empty for a delete, and where the constraint has a name
   * other than Prisma's.
   */
  readonly columns: string[]
  /** Of the rows given to an insert, the first that cannot be stored. */
  readonly index: number | undefined
  /** For a delete: the column of another row that refers to the record, and its table's name among the tables. */
  readonly referring: { table: string; column: string } | undefined

  constructor(
    columns: string[],
    {
      index,
      referring,
      cause,
    }: { index?: number | undefined; referring?: { table: string; column: string } | undefined; cause?: unknown } = {},
  ) {
    super(messageOf(columns, referring), { cause })
    this.columns = columns
    this.index = index
    this.referring = referring
  }
}

function messageOf(columns: string[], referring: ReferenceViolation['referring']): string {
  if (referring !== undefined) return `${referring.table}.${referring.column} refers to the record.`
  return columns.length > 0 ? `There is no record with the id in ${columns.join(', ')}.` : 'A foreign key was violated.'
}

/** A foreign key refused a statement. The tables make a {@link ReferenceViolation} of it. */
export class ForeignKeyFault extends Error {
  /** Its name, where the engine gives it. */
  readonly constraint: string | undefined
  /** Which values it is about, in the engine's words. */
  readonly detail: string

  constructor({
    constraint,
    detail = '',
    cause,
  }: { constraint?: string | undefined; detail?: string; cause: unknown }) {
    super('A foreign key refused the statement.', { cause })
    this.constraint = constraint
    this.detail = detail
  }
}

/** The database had no time: a lock was held, or a write came too late or took too long. */
export class Busy extends Error {}

/** There was no connection to the database to be had, or it broke. */
export class Unreachable extends Busy {}

/** The disk had no room for what was to be written, and the write was undone. */
export class Full extends Busy {}

/** The disk failed as a write was brought there, which may be found there or not; nothing more is written. */
export class Broken extends Busy {}

export const DISK_FAILED = 'The disk failed: stop the service, and check the disk.'

/** A write lost against another one and was undone; it can be run again. */
export class Conflict extends Busy {}

/** Whether trying again later may help: the database had no time, or could not be reached. */
export function isBusy(error: unknown): boolean {
  return error instanceof Busy
}
