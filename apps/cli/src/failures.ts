import {
  AbortedError,
  ConflictError,
  ForbiddenError,
  InvalidInputError,
  NotFoundError,
  RateLimitedError,
  ServiceError,
  TimeoutError,
  UnauthorizedError,
  UnavailableError,
  VersionMismatchError,
} from '@resource/client'
import { CommanderError } from 'commander'
import type { Field } from './fields.ts'

/** The exit codes; they stand in `resource --help` and the README. */
export const EXIT = {
  ok: 0,
  unexpected: 1,
  invalid: 2,
  notFound: 3,
  conflict: 4,
  unavailable: 5,
  partial: 6,
  denied: 7,
  interrupted: 130,
} as const

/** An end that is no success, with the words for the person and the exit code. */
export class Failure extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Wrong input: exit code 2. */
export function invalid(message: string): Failure {
  return new Failure(EXIT.invalid, message)
}

/** Words and exit code for whatever was thrown; fields are named by their flags. */
export function failureOf(error: unknown, url: string, fields: Field[] = []): Failure {
  if (error instanceof Failure) return error
  // Commander has written its own words.
  if (error instanceof CommanderError) return new Failure(error.exitCode === 0 ? EXIT.ok : EXIT.invalid, '')
  if (!(error instanceof ServiceError)) return new Failure(EXIT.unexpected, messageOf(error))
  return new Failure(codeOf(error), wordsOf(error, url, fields))
}

/** One line for each wrong field: `--email: must be …`. */
export function faultLines(faults: { field: string; message: string }[], fields: Field[]): string {
  return faults
    .map(({ field, message }) => (field === '' ? message : `${flagOf(field, fields)}: ${message}`))
    .join('\n')
}

function wordsOf(error: ServiceError, url: string, fields: Field[]): string {
  if (error.fields.length > 0) return faultLines(error.fields, fields)
  if (error instanceof UnavailableError) return `${error.message} at ${url}`
  return error.message
}

function codeOf(error: ServiceError): number {
  if (error instanceof InvalidInputError) return EXIT.invalid
  if (error instanceof NotFoundError) return EXIT.notFound
  if (error instanceof ConflictError || error instanceof VersionMismatchError) return EXIT.conflict
  if (error instanceof UnauthorizedError || error instanceof ForbiddenError) return EXIT.denied
  const isPassing =
    error instanceof UnavailableError || error instanceof TimeoutError || error instanceof RateLimitedError
  if (isPassing) return EXIT.unavailable
  return error instanceof AbortedError ? EXIT.interrupted : EXIT.unexpected
}

function flagOf(path: string, fields: Field[]): string {
  const field = fields.find(({ name }) => name === path.split(/[.[]/)[0])
  return field?.flag ?? path
}

function messageOf(error: unknown): string {
  const { code, path } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return `There is no file ${path}`
  return error instanceof Error ? error.message : String(error)
}
