import { ConflictError, NotFoundError, ServiceError, VersionMismatchError } from '@resource/client'

/** An error as a sentence for users. */
export function errorMessage(error: unknown): string {
  if (error instanceof VersionMismatchError) return 'Someone else changed it in the meantime.'
  if (error instanceof NotFoundError) return 'It no longer exists.'
  if (error instanceof ConflictError || !(error instanceof ServiceError)) return `${(error as Error).message}.`
  if (error.status === 0) return 'The service cannot be reached. Is it running?'
  if (error.status >= 500) return `The service has a problem (${error.status}). Try again in a moment.`
  return `${error.message}.`
}

/** Singular and plural of a countable noun: `{ one: 'user', many: 'users' }`. */
export interface CountLabels {
  one: string
  many: string
}

export const ROWS: CountLabels = { one: 'row', many: 'rows' }

/** `1 user`, `1,204 users`. */
export function formatCount(count: number, { one, many }: CountLabels): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
