import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { ApiError } from './api-error.ts'
import type { Procedure } from './contract.ts'
import { FieldError, list, type Path, type PathFault, quote } from './field-error.ts'
import { factsOf, shapeOf } from './schema.ts'

/** The message for an unknown field. */
export const UNKNOWN_FIELD = 'is not a recognized field'

/** The unknown fields that an error names: a body has room for some hundred thousand. */
export const MAX_UNKNOWN = 1000
// A thousand rows may each have an error.
const MAX_UNKNOWN_IN_ROW = 10

/** Whether the request asks to reject unknown fields: `Prefer: handling=strict`. The first `handling` counts (RFC 7240). */
export function prefersStrict({ prefer }: IncomingHttpHeaders): boolean {
  if (prefer === undefined) return false
  const preferences = String(prefer).match(PREFERENCE) ?? []
  const handling = preferences.find((preference) => /^\s*handling\s*(?:[=;]|$)/i.test(preference))
  return handling !== undefined && /=\s*"?strict"?\s*(?:;|$)/i.test(handling)
}

// A quoted value may contain commas.
const PREFERENCE = /(?:[^,"]|"[^"]*"?)+/g

/** Refuses unknown fields of an input. @param strict the fields of the response, if the caller asks to reject every unknown field */
export type UnknownCheck = (input: unknown, valid: unknown, strict?: ReadonlySet<string>) => void

/**
 * The check for unknown fields of a procedure. They are ignored, unless the caller is strict, unless they are conditions of
 * other procedures, or unless the write would silently change nothing: a body in which all fields are optional, or a row that
 * changes a record, must have a known one. Fields of the response are allowed, so that a caller can send back a record that it
 * has read; read-only ones alone are not.
 *
 * @param subset the fields of the body, if all of them are optional
 * @param conditions the fields that REST reads from headers, such as `if_version`
 */
export function unknownFieldsCheck(
  procedure: Procedure,
  subset: readonly string[] | undefined,
  conditions: readonly string[],
): UnknownCheck {
  const changes = rowsCheck(procedure) ?? (subset && bodyCheck(procedure, subset))
  const conditionsOf = conditionsCheck(procedure, conditions)
  return (input, valid, strict) => {
    const faults =
      strict === undefined ? conditionsOf(input) : unknownFields(procedure.input, input, strict, [], MAX_UNKNOWN)
    if (faults.length > 0) throw new FieldError(400, faults)
    changes?.(input as Values, valid as Values)
  }
}

type Values = Record<string, unknown>

/**
 * The conditions in an input, and in its rows, that the procedure does not have. Ignoring one would carry out a write that the
 * caller made conditional.
 */
function conditionsCheck({ input: schema, output }: Procedure, conditions: readonly string[]) {
  const answered = answerFields(output)
  const unknownTo = (one: z.ZodType) => {
    const objects = closedObjects(one)
    const isUnknown = (name: string) => !answered.has(name) && !objects?.some(({ shape }) => Object.hasOwn(shape, name))
    return objects === undefined ? [] : conditions.filter(isUnknown)
  }
  const whole = unknownTo(schema)
  const lists = Object.entries(shapeOf(schema)).flatMap(([field, list]) => {
    const row = factsOf(list).element
    const names = row === undefined ? [] : unknownTo(row)
    return names.length === 0 ? [] : [{ field, names }]
  })
  return (input: unknown): PathFault[] => {
    if (typeof input !== 'object' || input === null) return []
    const faults = faultsAt(input, whole, [])
    for (const { field, names } of lists) {
      const rows = (input as Values)[field]
      if (!Array.isArray(rows)) continue
      for (const [index, row] of rows.entries()) faults.push(...faultsAt(row, names, [field, index]))
    }
    return faults
  }
}

function faultsAt(value: unknown, names: readonly string[], at: Path): PathFault[] {
  if (typeof value !== 'object' || value === null) return []
  return names
    .filter((name) => Object.hasOwn(value, name))
    .map((name) => ({ path: [...at, name], message: UNKNOWN_FIELD }))
}

function bodyCheck({ input: schema, output }: Procedure, fields: readonly string[]) {
  const answered = Object.entries(shapeOf(output)).filter(([, field]) => factsOf(field).meta.readOnly !== true)
  const known = new Set([...Object.keys(shapeOf(schema)), ...answered.map(([name]) => name)])
  return (input: Values): void => {
    if (fields.some((field) => Object.hasOwn(input, field))) return
    const unknown = Object.keys(input).filter((name) => !known.has(name))
    if (unknown.length === 0) return
    const message = `No recognized field: ${list(unknown.map(quote), ', ')}; the fields are: ${fields.join(', ')}`
    throw new ApiError(400, message, {
      fields: unknown.slice(0, MAX_UNKNOWN).map((name) => ({ field: quote(name), message: UNKNOWN_FIELD })),
    })
  }
}

/** With partial success, an invalid row becomes a FieldError. */
function rowsCheck({ rows, input: schema }: Procedure) {
  if (rows?.changes === undefined) return undefined
  const { field, partial, changes } = rows
  const answered = new Set(changes.answered)
  const row = factsOf(shapeOf(schema)[field] as z.ZodType).element as z.ZodType
  return (input: Values, valid: Values): void => {
    const changing = changes.fields.filter((name) => name !== input[changes.key])
    const checked = valid[field] as unknown[]
    for (const [index, sent] of (input[field] as object[]).entries()) {
      if (checked[index] instanceof FieldError || changing.some((name) => Object.hasOwn(sent, name))) continue
      const at = input[partial] === true ? [] : [field, index]
      const faults = unknownFields(row, sent, answered, at, MAX_UNKNOWN_IN_ROW)
      if (faults.length === 0) continue
      const error = new FieldError(400, faults)
      if (input[partial] !== true) throw error
      checked[index] = error
    }
  }
}

/**
 * The fields of `input` that neither `schema` nor the response has.
 *
 * @param at the path of `input` itself
 */
function unknownFields(
  schema: z.ZodType,
  input: unknown,
  answered: ReadonlySet<string>,
  at: Path,
  max: number,
): PathFault[] {
  const faults: PathFault[] = []
  for (const path of unknownPaths(schema, input, answered, at)) {
    faults.push({ path, message: UNKNOWN_FIELD })
    if (faults.length === max) break
  }
  return faults
}

/** A copy of a JSON input without the fields that `schema` does not have, at any depth: a call ignores them. */
export function withoutUnknown<T>(schema: z.ZodType, input: T): T {
  const known = structuredClone(input)
  for (const path of unknownPaths(schema, input, NO_FIELDS, [])) {
    const parent = path.slice(0, -1).reduce<object>((value, key) => Reflect.get(value, key), known as object)
    Reflect.deleteProperty(parent, path.at(-1) as PropertyKey)
  }
  return known
}

const NO_FIELDS: ReadonlySet<string> = new Set()

/** The fields of a response: its own, and those of the objects and lists in it, two levels deep. */
export function answerFields(output: z.ZodType): Set<string> {
  const fields = new Set<string>()
  const collect = (schema: z.ZodType, depth: number) => {
    const { element } = factsOf(schema)
    if (element !== undefined) return collect(element, depth)
    for (const { shape } of shapesOf(schema) ?? []) {
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
  const { element } = factsOf(schema)
  if (element !== undefined) {
    if (!Array.isArray(value)) return
    for (const [index, one] of value.entries()) yield* unknownPaths(element, one, answered, [...path, index])
    return
  }
  const objects = closedObjects(schema)
  if (objects === undefined) return
  for (const [name, field] of Object.entries(value)) {
    const own = objects.find(({ shape }) => Object.hasOwn(shape, name))
    if (own !== undefined) yield* unknownPaths(own.shape[name] as z.ZodType, field, answered, [...path, name])
    else if (!answered.has(name)) yield [...path, name]
  }
}

/** The object schemas that a schema stands for; undefined if it takes anything else, or decides itself which fields it takes. */
function closedObjects(schema: z.ZodType): z.ZodObject[] | undefined {
  const objects = shapesOf(schema)
  return objects?.some(({ def }) => def.catchall !== undefined) ? undefined : objects
}

/** The object schemas that a schema stands for; undefined if it takes anything else. */
function shapesOf(schema: z.ZodType): z.ZodObject[] | undefined {
  const { core } = factsOf(schema)
  if (core instanceof z.ZodObject) return [core]
  if (!(core instanceof z.ZodUnion)) return undefined
  const options = (core.options as z.ZodType[]).map(shapesOf)
  return options.includes(undefined) ? undefined : (options as z.ZodObject[][]).flat()
}
