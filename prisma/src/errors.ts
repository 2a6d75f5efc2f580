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
