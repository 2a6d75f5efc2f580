import type { z } from 'zod'
import { dotted, FieldError, type Path, type PathFault, REQUIRED } from './field-error.ts'
import { type Awaitable, isPromise } from './hook.ts'
import type { Parser } from './parser.ts'
import { MAX_UNKNOWN, UNKNOWN_FIELD } from './unknown-fields.ts'

const NO_FIELDS: ReadonlySet<PropertyKey> = new Set()

/**
 * Parses `input`.
 *
 * @param fromText the fields that are always sent as text, whose type an error does not mention
 * @throws FieldError 400 that names each missing or invalid field and its rule, but never the value
 */
export function validate<T>(parse: Parser<T>, input: unknown, fromText = NO_FIELDS): Awaitable<T> {
  const parsed = parse(input)
  return isPromise(parsed) ? parsed.then((parsed) => dataOf(parsed, input, fromText)) : dataOf(parsed, input, fromText)
}

function dataOf<T>(parsed: z.ZodSafeParseResult<T>, input: unknown, fromText: ReadonlySet<PropertyKey>): T {
  if (parsed.success) return parsed.data
  throw new FieldError(400, faultsIn(parsed.error, input, fromText))
}

/**
 * Parses an input with a list of rows. A list with invalid rows is accepted: the result has a FieldError in their places.
 *
 * @param field the input field that is the list
 * @throws FieldError 400 if anything but a row is invalid
 */
export async function validateRows<T>(
  parse: Parser<T>,
  input: Record<string, unknown>,
  field: string,
  fromText = NO_FIELDS,
): Promise<T> {
  const parsed = await parse(input)
  if (parsed.success) return parsed.data
  const faults = faultsIn(parsed.error, input, fromText)
  // Node 20 has no Map.groupBy.
  const ofRows = new Map<PropertyKey | undefined, PathFault[]>()
  for (const fault of faults) {
    const row = fault.path[0] === field ? fault.path[1] : undefined
    const ofRow = ofRows.get(row) ?? []
    ofRows.set(row, ofRow)
    ofRow.push(fault)
  }
  if (ofRows.has(undefined)) throw new FieldError(400, faults)
  const rows = input[field] as unknown[]
  const valid = rows.filter((_, index) => !ofRows.has(index))
  // A list may have a minimum length, so an empty one is not parsed.
  const data =
    valid.length === 0 ? { ...input, [field]: [] } : dataOf(await parse({ ...input, [field]: valid }), input, fromText)
  const parsedRows = ((data as Record<string, unknown>)[field] as unknown[]).values()
  const merged = rows.map((_, index) => {
    const found = ofRows.get(index)
    return found === undefined
      ? parsedRows.next().value
      : new FieldError(
          400,
          found.map(({ path, message }) => ({ path: path.slice(2), message })),
        )
  })
  return { ...data, [field]: merged } as T
}

function faultsIn(error: z.ZodError, input: unknown, fromText: ReadonlySet<PropertyKey>): PathFault[] {
  const faults = new Map<string, PathFault>()
  for (const { path, message, types } of error.issues.flatMap(faultsOf)) {
    const field = dotted(path)
    if (faults.has(field)) continue
    const value = valueAt(input, path)
    // Only an absent or undefined key is missing; null is an invalid value.
    if (path.length > 0 && value === undefined) faults.set(field, { path, message: REQUIRED })
    else {
      const sent = typeOf(value)
      const isWrongType = types !== undefined && !types.includes(sent) && !fromText.has(path[0] as PropertyKey)
      faults.set(field, { path, message: isWrongType && RULE.test(message) ? `${message}, not ${sent}` : message })
    }
  }
  return [...faults.values()]
}

// Other messages, such as those of zod, may already contain the type.
const RULE = /^must be /

interface IssueFault extends PathFault {
  /** The types that the schema accepts, if the issue is about the type. */
  types?: string[] | undefined
}

// The faults of a zod issue by field: zod reports some issues for the whole object.
function faultsOf(issue: z.core.$ZodIssue): IssueFault[] {
  if (issue.code === 'invalid_union' && issue.path.length === 0 && issue.errors.length > 0) {
    // Report the option of the union with the fewest issues.
    return issue.errors.reduce((least, other) => (other.length < least.length ? other : least)).flatMap(faultsOf)
  }
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, MAX_UNKNOWN).map((key) => ({ path: [...issue.path, key], message: UNKNOWN_FIELD }))
  }
  const isWhole = issue.path.length === 0 && issue.code === 'invalid_type'
  return [{ path: issue.path, message: isWhole ? 'Input must be an object' : issue.message, types: typesOf(issue) }]
}

const TYPES: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a number',
  boolean: 'a boolean',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

/** The types that the schema of an issue accepts; undefined if the issue may be about anything else. */
function typesOf(issue: z.core.$ZodIssue): string[] | undefined {
  if (issue.code === 'invalid_type') {
    const type = TYPES[issue.expected]
    return type === undefined ? undefined : [type]
  }
  if (issue.code === 'invalid_value') return issue.values.map(typeOf)
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return undefined
  const ofOptions = issue.errors.map(([first]) => (first && first.path.length === 0 ? typesOf(first) : undefined))
  return ofOptions.includes(undefined) ? undefined : (ofOptions as string[][]).flat()
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return (Array.isArray(value) ? TYPES.array : TYPES[typeof value]) ?? typeof value
}

function valueAt(input: unknown, path: Path): unknown {
  let value = input
  for (const key of path) value = (value as Record<PropertyKey, unknown>)?.[key]
  return value
}
