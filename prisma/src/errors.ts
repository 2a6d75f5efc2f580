/** A row violates a unique constraint. */
export class UniqueViolation extends Error {
  /** Empty when the engine does not report them. */
  readonly columns: string[]
  /** For several rows written at once: the index of the first one that violates it. */
  readonly index: number | undefined

  constructor(columns: string[], { index, cause }: { index?: number; cause?: unknown } = {}) {
    super(`Another row has the same ${columns.join(', ') || 'values'}.`, { cause })
    this.columns = columns
    this.index = index
  }
}

interface Referred {
  /** For an insert: the index of the first row that violates it. */
  index?: number | undefined
  /** For a delete: the column that references the record, and the name of its table in `Tables`. */
  referring?: { table: string; column: string } | undefined
}

/** A referenced record does not exist, or a record cannot be deleted because another row references it. */
export class ReferenceViolation extends Error {
  /**
   * The columns whose referenced record does not exist; PostgreSQL names only one. Empty for a delete, and for a constraint
   * without a name in Prisma's form.
   */
  readonly columns: string[]
  readonly index: Referred['index']
  readonly referring: Referred['referring']

  constructor(columns: string[], { index, referring, cause }: Referred & { cause?: unknown } = {}) {
    super(messageOf(columns, referring), { cause })
    this.columns = columns
    this.index = index
    this.referring = referring
  }
}

/** A write would put a record outside the scope of its caller. `columns` has the one that decides. */
export class OutsideScope extends ReferenceViolation {}

function messageOf(columns: string[], referring: Referred['referring']): string {
  if (referring !== undefined) return `${referring.table}.${referring.column} refers to the record.`
  return columns.length > 0 ? `There is no record with the id in ${columns.join(', ')}.` : 'A foreign key was violated.'
}

/** A foreign key constraint failed. The tables convert this into a {@link ReferenceViolation}. */
export class ForeignKeyFault extends Error {
  /** Its name, if the engine reports it. */
  readonly constraint: string | undefined
  /** The engine's description of the values. */
  readonly detail: string

  constructor({
    constraint,
    detail = '',
    cause,
  }: { constraint?: string | undefined; detail?: string; cause: unknown }) {
    super('A foreign key constraint failed.', { cause })
    this.constraint = constraint
    this.detail = detail
  }
}

/** The database is busy: a lock was not available, or a write timed out. */
export class Busy extends Error {}

/** No connection to the database could be made, or it broke. */
export class Unreachable extends Busy {}

/** None of the servers that the URL names has the role that it asks for. */
export class NoServer extends Unreachable {
  /** @param role for people: `read-write` */
  constructor(role: string) {
    super(`No server of the database is ${role}`)
  }
}

/** The connection broke after a write was sent, or its commit: it may or may not have been stored. */
export class InDoubt extends Unreachable {}

/** The database is not as this version of the service needs it. It lacks a table, for example, or a privilege of its role. */
export class Unusable extends Busy {
  /** @param reason for people, without secrets: `it lacks a table` */
  constructor(reason: string, options?: { cause: unknown }) {
    super(`The database cannot be used: ${reason}`, options)
  }
}

/** The database serves reads, but accepts no writes. */
export class ReadOnly extends Busy {
  /** @param reason for people, without secrets: `it is a standby` */
  constructor(reason: string, options?: { cause: unknown }) {
    super(`The database accepts no writes: ${reason}`, options)
  }
}

/** The disk is full; the write was rolled back. */
export class DiskFull extends Busy {}

/** The disk failed during a sync. The write may or may not be on disk; no further writes are accepted. */
export class DurabilityLost extends Busy {}

/** The database file was moved, deleted or replaced. */
export class FileMoved extends DurabilityLost {}

/** A statement met damaged pages of the database file. */
export class Damaged extends Busy {
  constructor(options: { cause: unknown }) {
    super('The database file is damaged: stop the service and restore a backup.', options)
  }
}

export const DISK_FAILED = 'The disk failed: stop the service and check the disk.'

/** A write conflicted with another one and was rolled back; it can be retried. */
export class Conflict extends Busy {}

/** Whether a later retry may help: the database is busy or unreachable. */
export function isBusy(error: unknown): boolean {
  return error instanceof Busy
}
