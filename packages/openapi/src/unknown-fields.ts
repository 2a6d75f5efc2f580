import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { FieldError, type Path, type PathFault } from './field-error.ts'

/** Whether the request asks to reject unknown fields: `Prefer: handling=strict` (RFC 7240). */
export function prefersStrict({ prefer }: IncomingHttpHeaders): boolean {
  return prefer !== undefined && /(?:^|,)\s*handling\s*=\s*"?strict"?\s*(?:[,;]|$)/i.test(String(prefer))
}

/**
 * Throws if `input` has fields that neither `schema` nor the answer has. Fields of the answer are allowed, so that a caller
 * can send back a record that it has read.
 *
 * @throws FieldError 400 that names each unknown field
 */
export function rejectUnknownFields(schema: z.ZodType, input: unknown, answered: ReadonlySet<string>): void {
  const faults: PathFault[] = []
  for (const path of unknownPaths(schema, input, answered, [])) {
    faults.push({ path, message: 'is not a recognized field' })
    if (faults.length === MAX_FAULTS) break
  }
  if (faults.length > 0) throw new FieldError(400, faults)
}

// A body has room for some hundred thousand field names, and the error names each again.
const MAX_FAULTS = 1000

/** The fields of an answer: those of the object itself, and of the records in its lists. */
export function answerFields(output: z.ZodType): Set<string> {
  const shape = shapesOf(output)?.[0]?.shape ?? {}
  const inLists = Object.values(shape).flatMap((field) => {
    const inner = unwrapped(field as z.ZodType)
    return inner instanceof z.ZodArray ? Object.keys(shapesOf(inner.element as z.ZodType)?.[0]?.shape ?? {}) : []
  })
  return new Set([...Object.keys(shape), ...inLists])
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
