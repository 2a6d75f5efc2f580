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

/** `1 user`, `1,204 users`: nouns of the contract are plurals in s. */
export function counted(count: number, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? many.replace(/s$/, '') : many}`
}
