import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  AbortedError,
  ConflictError,
  type FieldFault,
  ForbiddenError,
  GoneError,
  InvalidInputError,
  NotFoundError,
  ServiceError,
  TimeoutError,
  UnauthorizedError,
  UnavailableError,
  UnknownProcedureError,
  VersionMismatchError,
} from '@resource/client'
import { ImportError, isUnreachable } from '@resource/import'
import { CommanderError } from 'commander'
import { EXIT_CODES, type Outcome } from './exit-codes.ts'
import type { Field } from './fields.ts'
import { ID } from './procedures.ts'

/** The service that was called, and the key that was sent. */
interface Target {
  url?: string
  key?: string
  /** In place of a service. */
  database?: string | undefined
}

const KEY_NEEDED =
  'The service requires an API key: run "resource login" or set RESOURCE_KEY. To create the first key, run "resource keys create" with --database on the machine of the service'

/** An error with a message for the user, the outcome that sets the exit code, and details for `--json`. */
export class Failure extends Error {
  readonly outcome: Outcome
  readonly details: Record<string, unknown>
  constructor(outcome: Outcome, message: string, details: Record<string, unknown> = {}) {
    super(message)
    this.outcome = outcome
    this.details = details
  }
  get exitCode(): number {
    return EXIT_CODES[this.outcome].code
  }
  /** The error as printed with `--json`. */
  toJSON(): object {
    return { error: { code: this.outcome, exit_code: this.exitCode, message: this.message, ...this.details } }
  }
}

/** Invalid input: exit code 2. */
export function invalid(message: string): Failure {
  return new Failure('invalid', message)
}

/** Invalid fields, named by their flags: `--email: must be …`. */
export function invalidFields(errors: FieldFault[], fields: Field[], outcome: Outcome = 'invalid'): Failure {
  const named = errors.map(({ field, message }) => ({ field, ...(field && { flag: flagOf(field, fields) }), message }))
  const lines = named.map(({ flag, message }) => (flag ? `${flag}: ${message}` : message))
  return new Failure(outcome, lines.join('\n'), { fields: named })
}

/** The failure of any thrown value. Fields are named by their flags. */
export function toFailure(error: unknown, target: Target = {}, fields: Field[] = []): Failure {
  if (error instanceof Failure) return error
  if (error instanceof CommanderError) return commanderFailure(error)
  if (error instanceof ImportError) return invalid(error.message)
  if (!(error instanceof ServiceError)) return systemFailure(error)
  if (error.fields.length > 0) return invalidFields(error.fields, fields, outcomeOf(error))
  const { reason } = error
  const outcome = outcomeOf(error)
  return new Failure(outcome, serviceErrorMessage(error, target), reason && reason !== outcome ? { reason } : {})
}

function commanderFailure({ code, exitCode, message }: CommanderError): Failure {
  if (exitCode === 0) return new Failure('ok', '')
  // A group without a command; Commander has printed its help.
  if (code === 'commander.help') return invalid('A command is required; see --help')
  return invalid(message.replace(/^error: /, ''))
}

function serviceErrorMessage(error: ServiceError, { url, key, database }: Target): string {
  if (database !== undefined) return [error.message, ...causesOf(error)].join(': ')
  if (error instanceof UnavailableError) return `${error.message} at ${url}`
  if (error instanceof TimeoutError) return `No answer from ${url} in time; --timeout allows more`
  if (error instanceof UnauthorizedError && key === undefined) return KEY_NEEDED
  if (error instanceof UnknownProcedureError) return `The service at ${url} is older or newer than this command`
  return error.message
}

/** The messages of the causes of an unexpected error: without a service there is no log that has them. */
function causesOf({ status, cause, message }: ServiceError): string[] {
  const messages: string[] = []
  for (let error: unknown = status >= 500 ? cause : undefined; error instanceof Error; error = error.cause) {
    if (![message, messages.at(-1)].includes(error.message)) messages.push(error.message)
  }
  return messages
}

function outcomeOf(error: ServiceError): Outcome {
  if (error instanceof InvalidInputError) return 'invalid'
  if (error instanceof NotFoundError || error instanceof GoneError) return 'not_found'
  if (error instanceof ConflictError || error instanceof VersionMismatchError) return 'conflict'
  if (error instanceof UnauthorizedError || error instanceof ForbiddenError) return 'denied'
  if (error instanceof AbortedError) return 'interrupted'
  return isUnreachable(error) ? 'unavailable' : 'unexpected'
}

function flagOf(path: string, fields: Field[]): string {
  const name = path.split(/[.[]/)[0]
  // The id is an argument.
  return name === ID ? path : (fields.find((field) => field.name === name)?.flag ?? path)
}

/** The failure of an error that is not from the service: mostly of a file. */
function systemFailure(error: unknown): Failure {
  const { code, path } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' && path !== undefined) {
    const folder = dirname(path)
    return new Failure('not_found', existsSync(folder) ? `File not found: ${path}` : `Folder not found: ${folder}`)
  }
  if (code === 'EISDIR') return invalid(`${path ?? 'The path'} is a folder, not a file`)
  if (code === 'EACCES' || code === 'EPERM') return invalid(`No permission for ${path}`)
  return new Failure('unexpected', error instanceof Error ? error.message : String(error))
}
