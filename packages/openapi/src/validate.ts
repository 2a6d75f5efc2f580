import { z } from 'zod'
import { dotted, FieldError, type Path, type PathFault, REQUIRED } from './field-error.ts'
import { type Awaitable, isPromise } from './hook.ts'
import { MAX_UNKNOWN, UNKNOWN_FIELD } from './unknown-fields.ts'

/**
 * Compiles a schema to a parser function, about ten times as fast. Values that the function does not accept go to zod's
 * own parser, so the results are the same. Compiled on first use: a process uses few of a contract's schemas, and
 * compiling all of them would delay its start.
 */
export function compiled<S extends z.ZodType>(schema: S): () => S {
  let made: S | undefined
  return () => {
    if (made === undefined) {
      handleRejections(schema)
      made = z.compile(schema)
    }
    return made
  }
}

/** Parses a value: synchronously, unless the schema has an asynchronous check or transform. */
export type Parser<T = unknown> = (value: unknown) => Awaitable<z.ZodSafeParseResult<T>>

/** The parser of a schema, compiled as by {@link compiled}. */
export function parserOf<S extends z.ZodType>(schema: S): Parser<z.output<S>> {
  const fast = compiled(schema)
  let isAsync = false
  return (value) => {
    if (!isAsync) {
      try {
        return fast().safeParse(value)
      } catch (error) {
        if (!(error instanceof z.core.$ZodAsyncError)) throw error
        // zod detects an asynchronous schema only when a check returns a promise.
        isAsync = true
      }
    }
    return schema.safeParseAsync(value)
  }
}

/** Whether a field is optional. */
export function isOptional(schema: z.ZodType): boolean {
  return accepts(schema, undefined) ?? false
}

/** Whether a schema accepts a value; undefined if the schema is asynchronous. */
export function accepts(schema: z.ZodType, value: unknown): boolean | undefined {
  handleRejections(schema)
  try {
    return schema.safeParse(value).success
  } catch (error) {
    if (error instanceof z.core.$ZodAsyncError) return undefined
    throw error
  }
}

const handled = new WeakSet<object>()

/**
 * Handles the rejections of a schema's checks and transforms. A synchronous parse drops the promise of an asynchronous
 * check, and an unhandled rejection would end the process.
 */
function handleRejections(node: unknown): void {
  if (typeof node !== 'object' || node === null || handled.has(node)) return
  handled.add(node)
  const { _zod: inner } = node as { _zod?: { def: Record<string, unknown>; check?: unknown } }
  if (inner === undefined) {
    for (const child of Object.values(node)) handleRejections(child)
    return
  }
  const { def } = inner
  for (const slot of ['fn', 'transform']) if (slot in def) def[slot] = withHandler(def[slot])
  if (def.check === 'custom' && !('fn' in def)) inner.check = withHandler(inner.check)
  handleRejections(typeof def.getter === 'function' ? def.getter() : def)
}

function withHandler(run: unknown): unknown {
  if (typeof run !== 'function') return run
  return (...args: unknown[]) => {
    const result: unknown = run(...args)
    if (result instanceof Promise) result.catch(() => undefined)
    return result
  }
}

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
