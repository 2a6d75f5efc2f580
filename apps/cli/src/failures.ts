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
import type { Globals } from './globals.ts'

/** The exit codes; `resource --help` and the README also list them. */
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

/** The service that was called, and the key that was sent. */
type Target = Partial<Pick<Globals, 'url' | 'key'>>

const KEY_NEEDED =
  'Set an API key in RESOURCE_KEY. To create one, run "resource keys create" with --database on the machine of the service'

/** An error with a message for the user and an exit code. */
export class Failure extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Invalid input: exit code 2. */
export function invalid(message: string): Failure {
  return new Failure(EXIT.invalid, message)
}

/** The message and exit code for any thrown value. Fields are named by their flags. */
export function toFailure(error: unknown, target: Target = {}, fields: Field[] = []): Failure {
  if (error instanceof Failure) return error
  // Commander has already printed its message.
  if (error instanceof CommanderError) return new Failure(error.exitCode === 0 ? EXIT.ok : EXIT.invalid, '')
  if (!(error instanceof ServiceError)) return new Failure(EXIT.unexpected, errorMessage(error))
  return new Failure(codeOf(error), serviceErrorMessage(error, target, fields))
}

/** One line per invalid field: `--email: must be …`. */
export function fieldErrorLines(errors: { field: string; message: string }[], fields: Field[]): string {
  return errors
    .map(({ field, message }) => (field === '' ? message : `${flagOf(field, fields)}: ${message}`))
    .join('\n')
}

function serviceErrorMessage(error: ServiceError, { url, key }: Target, fields: Field[]): string {
  if (error.fields.length > 0) return fieldErrorLines(error.fields, fields)
  if (error instanceof UnavailableError) return `${error.message} at ${url}`
  if (error instanceof UnauthorizedError && key === undefined) return KEY_NEEDED
  return error.message
}

function codeOf(error: ServiceError): number {
  if (error instanceof InvalidInputError) return EXIT.invalid
  if (error instanceof NotFoundError) return EXIT.notFound
  if (error instanceof ConflictError || error instanceof VersionMismatchError) return EXIT.conflict
  if (error instanceof UnauthorizedError || error instanceof ForbiddenError) return EXIT.denied
  const isTransient =
    error instanceof UnavailableError || error instanceof TimeoutError || error instanceof RateLimitedError
  if (isTransient) return EXIT.unavailable
  return error instanceof AbortedError ? EXIT.interrupted : EXIT.unexpected
}

function flagOf(path: string, fields: Field[]): string {
  const field = fields.find(({ name }) => name === path.split(/[.[]/)[0])
  return field?.flag ?? path
}

function errorMessage(error: unknown): string {
  const { code, path } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return `File not found: ${path}`
  return error instanceof Error ? error.message : String(error)
}
