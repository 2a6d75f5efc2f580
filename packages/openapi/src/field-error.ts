import { ApiError, type ApiErrorStatus, type FieldFault } from './api-error.ts'

/** Where a field stands in an input: `['users', 2, 'email']`; empty for the input as a whole. */
export type Path = readonly PropertyKey[]

/** A field that is refused. */
export interface PathFault {
  path: Path
  /** Reads on from the field's name: `must be in the future`. */
  message: string
}

/** The message of a field that is missing. */
export const REQUIRED = 'is required'

/** A refusal of fields of a procedure's input: message and `fields` name them by their paths, missing ones first. */
export class FieldError extends ApiError {
  readonly #faults: PathFault[]
  readonly #options: { reason?: string }

  constructor(status: ApiErrorStatus, faults: PathFault[], options: { reason?: string } = {}) {
    const named = faults.map(({ path, message }) => ({ field: dotted(path), message }))
    const missing = named.filter(({ message }) => message === REQUIRED)
    const wrong = named.filter(({ message }) => message !== REQUIRED)
    super(status, messageOf(missing, wrong), { ...options, fields: [...missing, ...wrong] })
    this.#faults = faults
    this.#options = options
  }

  /** The same error for a caller who sent the fields under other paths. */
  movedTo(pathOf: (path: Path) => Path): FieldError {
    const faults = this.#faults.map(({ path, message }) => ({ path: pathOf(path), message }))
    return new FieldError(this.status, faults, this.#options)
  }
}

function messageOf(missing: FieldFault[], wrong: FieldFault[]): string {
  const names = missing.map(({ field }) => field)
  const texts = wrong.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`))
  const parts = names.length > 0 ? [`Missing required fields: ${list(names, ', ')}`] : []
  if (texts.length > 0) parts.push(list(texts, '; '))
  return parts.join('; ')
}

/** A path as people write it: `users[1].email`. */
export function dotted(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? quote(String(key)) : `${text}.${quote(String(key))}`
  }, '')
}

/** A name as a message shows it: it may come from the caller, be empty or a megabyte long. */
export function quote(name: string): string {
  if (name === '') return '""'
  return name.length > 60 ? `${name.slice(0, 60)}…` : name
}

// A bulk request can be wrong in thousands of places; a message names the first ones.
const MOST_NAMED = 20

/** The first of `parts`, and how many there are beside them. */
export function list(parts: string[], separator: string): string {
  if (parts.length <= MOST_NAMED) return parts.join(separator)
  return `${parts.slice(0, MOST_NAMED).join(separator)}${separator}and ${parts.length - MOST_NAMED} more`
}
