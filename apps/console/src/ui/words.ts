import { ConflictError, NotFoundError, ServiceError, VersionMismatchError } from '@resource/client'

/** An error as a sentence for people. */
export function wordsOf(error: unknown): string {
  if (error instanceof VersionMismatchError) return 'It was changed by someone else meanwhile.'
  if (error instanceof NotFoundError) return 'It is no longer there.'
  if (error instanceof ConflictError || !(error instanceof ServiceError)) return `${(error as Error).message}.`
  if (error.status === 0) return 'The service cannot be reached. Is it running?'
  if (error.status >= 500) return `The service could not do it just now (${error.status}). Try again in a moment.`
  return `${error.message}.`
}

/** Things to count: `{ one: 'user', many: 'users' }`. */
export interface Things {
  one: string
  many: string
}

export const ROWS: Things = { one: 'row', many: 'rows' }

/** `1 user`, `1,204 users`. */
export function counted(count: number, { one, many }: Things): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
