import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { FieldError, type Path, type PathFault } from './field-error.ts'

/** The message for an unknown field. */
export const UNKNOWN_FIELD = 'is not a recognized field'

/** The unknown fields that an error names: a body has room for some hundred thousand. */
export const MAX_UNKNOWN = 1000

/** Whether the request asks to reject unknown fields: `Prefer: handling=strict`. The first `handling` counts (RFC 7240). */
export function prefersStrict({ prefer }: IncomingHttpHeaders): boolean {
  if (prefer === undefined) return false
  const preferences = String(prefer).match(PREFERENCE) ?? []
  const handling = preferences.find((preference) => /^\s*handling\s*(?:[=;]|$)/i.test(preference))
  return handling !== undefined && /=\s*"?strict"?\s*(?:;|$)/i.test(handling)
}

// A quoted value may contain commas.
const PREFERENCE = /(?:[^,"]|"[^"]*"?)+/g

/**
 * Throws if `input` has fields that neither `schema` nor the response has. Fields of the response are allowed, so that a
 * caller can send back a record that it has read.
 *
 * @throws FieldError 400 that names each unknown field
 */
export function rejectUnknownFields(schema: z.ZodType, input: unknown, answered: ReadonlySet<string>): void {
  const faults = unknownFields(schema, input, answered)
  if (faults.length > 0) throw new FieldError(400, faults)
}

/**
 * The fields of `input` that neither `schema` nor the response has.
 *
 * @param options.at the path of `input` itself
 * @param options.max the longest result; default: {@link MAX_UNKNOWN}
 */
export function unknownFields(
  schema: z.ZodType,
  input: unknown,
  answered: ReadonlySet<string>,
  { at = [], max = MAX_UNKNOWN }: { at?: Path; max?: number } = {},
): PathFault[] {
  const faults: PathFault[] = []
  for (const path of unknownPaths(schema, input, answered, at)) {
    faults.push({ path, message: UNKNOWN_FIELD })
    if (faults.length === max) break
  }
  return faults
}

/** The fields of a response: its own, and those of the objects and lists in it, two levels deep. */
export function answerFields(output: z.ZodType): Set<string> {
  const fields = new Set<string>()
  const collect = (schema: z.ZodType, depth: number) => {
    const inner = unwrapped(schema)
    if (inner instanceof z.ZodArray) return collect(inner.element as z.ZodType, depth)
    for (const { shape } of shapesOf(inner) ?? []) {
      for (const [name, field] of Object.entries(shape)) {
        fields.add(name)
        if (depth > 0) collect(field as z.ZodType, depth - 1)
      }
    }
  }
  collect(output, 2)
  return fields
}

function* unknownPaths(
  schema: z.ZodType,
  value: unknown,
  answered: ReadonlySet<string>,
  path: Path,
): Generator<Path, void> {
  if (typeof value !== 'object' || value === null) return
  const inner = unwrapped(schema)
  if (inner instanceof z.ZodArray) {
    if (!Array.isArray(value)) return
    for (const [index, one] of value.entries()) {
      yield* unknownPaths(inner.element as z.ZodType, one, answered, [...path, index])
    }
    return
  }
  const objects = shapesOf(inner)
  // A schema with a catch-all decides itself which fields it takes.
  if (objects === undefined || objects.some(({ def }) => def.catchall !== undefined)) return
  for (const [name, field] of Object.entries(value)) {
    const own = objects.find(({ shape }) => Object.hasOwn(shape, name))
    if (own !== undefined) yield* unknownPaths(own.shape[name] as z.ZodType, field, answered, [...path, name])
    else if (!answered.has(name)) yield [...path, name]
  }
}

/** The object schemas that a schema stands for; undefined if it takes anything else. */
function shapesOf(schema: z.ZodType): z.ZodObject[] | undefined {
  const inner = unwrapped(schema)
  if (inner instanceof z.ZodObject) return [inner]
  if (!(inner instanceof z.ZodUnion)) return undefined
  const options = (inner.options as z.ZodType[]).map(shapesOf)
  return options.includes(undefined) ? undefined : (options as z.ZodObject[][]).flat()
}

function unwrapped(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodPipe) return unwrapped(schema.in as z.ZodType)
  const isWrapper =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly
  return isWrapper ? unwrapped(schema.unwrap() as z.ZodType) : schema
}
