import { z } from 'zod'
import { type FieldFault, Problem } from './problem.ts'

type Path = readonly PropertyKey[]

/** A path as people write it, `users[1].email`, behind what `start` says already. */
export function dotted(path: Path, start = ''): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? quote(String(key)) : `${text}.${quote(String(key))}`
  }, start)
}

/** A name as a message shows it: it may come from the caller, be empty or a megabyte long. */
export function quote(name: string): string {
  if (name === '') return '""'
  return name.length > 60 ? `${name.slice(0, 60)}…` : name
}

/**
 * A schema that parses by a function made for it, some ten times as fast, and asks zod's own parser about what that does
 * not take: so it answers the same. It is made when it is first asked for, since a process uses few of a contract's
 * schemas, and to compile all would keep its start waiting.
 */
export function compiled<S extends z.ZodType>(schema: S): () => S {
  let made: S | undefined
  return () => {
    made ??= z.compile(schema)
    return made
  }
}

/**
 * Parses `input` by `schema`.
 *
 * @param label names a field by its path in the input, as the caller knows it
 * @throws Problem 400 that names each missing and each wrong field, and what it must be; values are never echoed
 */
export function validate<S extends z.ZodType>(schema: S, input: unknown, label: (path: Path) => string): z.output<S> {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  const missing: FieldFault[] = []
  const wrong: FieldFault[] = []
  const seen = new Set<string>()
  for (const { path, message } of parsed.error.issues.flatMap(placed)) {
    const field = label(path)
    if (seen.has(field)) continue
    seen.add(field)
    if (isAbsent(input, path)) missing.push({ field, message: 'is required' })
    else wrong.push({ field, message })
  }
  const absent = missing.map(({ field }) => field)
  const faults = wrong.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`))
  const parts = [
    ...(absent.length > 0 ? [`Missing required fields: ${list(absent, ', ')}`] : []),
    ...(faults.length > 0 ? [list(faults, '; ')] : []),
  ]
  throw new Problem(400, parts.join('; '), { fields: [...missing, ...wrong] })
}

// A bulk request can be wrong in thousands of places; a message names the first ones.
const MOST_NAMED = 20

/** The first of `parts`, and how many there are beside them. */
export function list(parts: string[], separator: string): string {
  if (parts.length <= MOST_NAMED) return parts.join(separator)
  return `${parts.slice(0, MOST_NAMED).join(separator)}${separator}and ${parts.length - MOST_NAMED} more`
}

// Where each fault of an issue is, where zod says it of the object as a whole.
function placed(issue: z.core.$ZodIssue): { path: Path; message: string }[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...issue.path, key], message: 'must be left out: it is not known here' }))
  }
  const isWhole = issue.path.length === 0 && issue.code === 'invalid_type'
  return [{ path: issue.path, message: isWhole ? 'Input must be an object' : issue.message }]
}

// A key that is not there is missing; one that is there with a wrong value, null among them, is wrong.
function isAbsent(input: unknown, path: Path): boolean {
  if (path.length === 0) return false
  let holder = input
  for (const key of path.slice(0, -1)) holder = (holder as Record<PropertyKey, unknown>)?.[key]
  const last = path[path.length - 1] as PropertyKey
  return typeof holder === 'object' && holder !== null && (holder as Record<PropertyKey, unknown>)[last] === undefined
}
