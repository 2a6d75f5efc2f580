import {
  ConflictError,
  NotFoundError,
  RateLimitedError,
  ServiceError,
  TimeoutError,
  UnauthorizedError,
  UnknownProcedureError,
  VersionMismatchError,
} from '@resource/client'

/** An error as a sentence for users. */
export function errorMessage(error: unknown): string {
  if (error instanceof VersionMismatchError) return 'Someone else changed it in the meantime.'
  if (error instanceof NotFoundError) return 'It no longer exists.'
  if (error instanceof UnauthorizedError) return 'You are logged out. Log in with an API key, then try again.'
  if (error instanceof UnknownProcedureError) return 'The service has a different version than this page. Reload it.'
  if (error instanceof RateLimitedError) return 'The service received too many requests. Try again in a moment.'
  if (error instanceof TimeoutError) return 'The service did not answer in time. Try again in a moment.'
  if (error instanceof ConflictError || !(error instanceof ServiceError)) return sentence((error as Error).message)
  if (error.status === 0) return 'The service cannot be reached. Is it running?'
  if (error.status >= 500) return 'The service has a problem. Try again in a moment.'
  return sentence(error.message)
}

/** A message as a sentence: with a full stop, unless it already ends as a sentence. */
export function sentence(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`
}

/** `name and role`, `name, role, and status`. */
export function listed(names: string[]): string {
  return new Intl.ListFormat('en').format(names)
}

/** Whether a request may have been carried out although there is no answer to it. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof ServiceError && [0, 502, 504].includes(error.status)
}

/** Whether the service is unreachable or has a problem, as opposed to a request that it rejected. */
export function isOutage(error: unknown): error is ServiceError {
  if (!(error instanceof ServiceError)) return false
  return error.status === 0 || error.status >= 500 || error instanceof RateLimitedError
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
