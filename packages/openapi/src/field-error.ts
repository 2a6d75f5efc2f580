import { ApiError, type ApiErrorStatus, type FieldFault } from './api-error.ts'

/** The path of a field in an input: `['users', 2, 'email']`; empty for the whole input. */
export type Path = readonly PropertyKey[]

/** An invalid field. */
export interface PathFault {
  path: Path
  /** Follows the field name: `must be in the future`. */
  message: string
}

/** The message for a missing field. */
export const REQUIRED = 'is required'

/**
 * An error about fields of a procedure's input. Message and `fields` name them by path, missing fields first. A fault of the
 * whole input is only in the message.
 */
export class FieldError extends ApiError {
  readonly #faults: PathFault[]
  readonly #options: { reason?: string }

  constructor(status: ApiErrorStatus, faults: PathFault[], options: { reason?: string } = {}) {
    const named = faults.map(({ path, message }) => ({ field: dotted(path), message }))
    const missing = named.filter(({ message }) => message === REQUIRED)
    const wrong = named.filter(({ message }) => message !== REQUIRED)
    const fields = [...missing, ...wrong].filter(({ field }) => field !== '')
    super(status, messageOf(missing, wrong), { ...options, fields })
    this.#faults = faults
    this.#options = options
  }

  /** The same error with the paths of the fields in the request. */
  withPaths(pathOf: (path: Path) => Path): FieldError {
    const faults = this.#faults.map(({ path, message }) => ({ path: pathOf(path), message }))
    return new FieldError(this.status, faults, this.#options)
  }
}

function messageOf(missing: FieldFault[], wrong: FieldFault[]): string {
  const names = missing.map(({ field }) => field)
  const texts = wrong.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`))
  const parts = names.length > 0 ? [`Missing required fields: ${list(names, ', ')}`] : []
  if (texts.length > 0) parts.push(list(texts, '; '))
  return parts.join('; ') || 'The request is refused'
}

/** Formats a path: `users[1].email`. */
export function dotted(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? quote(String(key)) : `${text}.${quote(String(key))}`
  }, '')
}

/** Formats a name for a message. It may come from the request, so it may be empty or very long. */
export function quote(name: string): string {
  if (name === '') return '""'
  // A cut through a surrogate pair, or a lone surrogate in the name, would make the response invalid for some parsers.
  return (name.length > 60 ? `${name.slice(0, 60)}…` : name).toWellFormed()
}

// A bulk request can have thousands of errors; a message lists the first ones.
const MAX_NAMED = 20

/** Joins the first `parts` and adds the number of the others. */
export function list(parts: string[], separator: string): string {
  if (parts.length <= MAX_NAMED) return parts.join(separator)
  return `${parts.slice(0, MAX_NAMED).join(separator)}${separator}and ${parts.length - MAX_NAMED} more`
}
