import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from './api-error.ts'
import type { HeaderSource, ResolvedBinding } from './bindings.ts'
import { matchedVersions, refuseConditions } from './conditions.ts'
import { FieldError, type Path } from './field-error.ts'
import { shapeOf } from './schema.ts'
import { checkParameters, fieldApiError, type Parameter, valuesOf } from './target.ts'

/** The part of a request that all handlers share. An Express request has it. */
export interface Incoming {
  readonly method: string
  /** The request target as sent, or the whole URL. */
  readonly originalUrl: string
  /** The mount path of the handler; empty at the root. */
  readonly baseUrl: string
  readonly headers: IncomingHttpHeaders
  /** The body, if another handler has read it. */
  body?: unknown
}

/**
 * Collects the procedure's input from a REST request: maps names, and reads digits in path, query and headers as numbers.
 * Body values are not converted.
 *
 * @param body undefined if there is none
 * @throws ApiError 400 on an unknown query parameter, and if a required body is missing
 */
export function gatherInput(
  resolved: ResolvedBinding,
  params: readonly string[],
  query: readonly Parameter[],
  headers: IncomingHttpHeaders,
  body: unknown,
): Record<string, unknown> {
  const input = pathInput(resolved, params)
  if (query.length > 0) {
    checkParameters(query, resolved.parameters)
    for (const { name, field, isRepeated, read } of resolved.query) {
      const texts = valuesOf(query, name, isRepeated)
      if (texts.length > 0) input[field] = read(texts)
    }
  }
  takeHeaders(resolved.headers, headers, input)
  if (resolved.binding.ifMatch !== undefined) {
    const versions = matchedVersions(resolved, headers)
    if (versions !== undefined) input[resolved.binding.ifMatch] = versions
  } else if (resolved.binding.method !== 'GET') refuseConditions(headers)
  if (resolved.body !== undefined) takeBody(resolved, resolved.body, body, input)
  return input
}

/** The input fields in the path. */
export function pathInput(resolved: ResolvedBinding, params: readonly string[]): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  for (const [index, source] of resolved.path.entries()) input[source.field] = source.read([params[index] as string])
  return input
}

/** Adds the input fields in request headers to `input`. */
export function takeHeaders(
  sources: HeaderSource[],
  headers: IncomingHttpHeaders,
  input: Record<string, unknown>,
): void {
  for (const source of sources) {
    const text = headers[source.key]
    if (typeof text === 'string') input[source.field] = source.read([text])
  }
}

/** Maps the path of a field in the procedure's input to its path in the request. */
export function callerPaths(resolved: ResolvedBinding, body: unknown): (path: Path) => Path {
  const names = new Map<PropertyKey, string>()
  const { body: slot = { fields: [] } } = resolved
  for (const { field, name } of 'fields' in slot ? slot.fields : []) {
    if (!names.has(field) || Object.hasOwn(body as object, name)) names.set(field, name)
  }
  for (const { field, name } of [...resolved.path, ...resolved.query, ...resolved.headers]) names.set(field, name)
  if (resolved.binding.ifMatch !== undefined) names.set(resolved.binding.ifMatch, 'If-Match')
  return ([first, ...rest]) => {
    if (first === undefined) return []
    if ('whole' in slot && first === slot.whole) return rest.length === 0 ? ['Body'] : rest
    return [names.get(first) ?? first, ...rest]
  }
}

function takeBody(
  resolved: ResolvedBinding,
  slot: NonNullable<ResolvedBinding['body']>,
  body: unknown,
  input: Record<string, unknown>,
): void {
  if (body === undefined) {
    if ('fields' in slot && slot.fields.length === 0) return
    throw new ApiError(400, 'No input data provided')
  }
  refuseHeaderFields(resolved, body)
  if ('whole' in slot) {
    input[slot.whole] = body
    return
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new ApiError(400, 'Body must be a JSON object')
  let recognized = 0
  for (const { name, field } of slot.fields) {
    if (!Object.hasOwn(body, name)) continue
    recognized++
    const value = (body as Record<string, unknown>)[name]
    if (Object.hasOwn(input, field) && input[field] !== value)
      throw fieldApiError(name, `must be the same as ${field}, or left out`)
    input[field] = value
  }
  if (recognized === Object.keys(body).length) return
  // Unknown fields are kept for the schema and for the check that rejects them.
  const known = new Set([...Object.keys(shapeOf(resolved.input)), ...slot.fields.map(({ name }) => name)])
  for (const [name, value] of Object.entries(body)) {
    // An assignment to `__proto__` would set the prototype of the input.
    if (!known.has(name)) Object.defineProperty(input, name, { value, enumerable: true })
  }
}

/**
 * Throws if a body, or one of its rows, has a field that other bindings read from a header, such as `if_version`. Ignoring it
 * would carry out a write whose condition may not hold.
 */
function refuseHeaderFields({ headerFields, answered }: ResolvedBinding, body: unknown): void {
  for (const [index, row] of (Array.isArray(body) ? body : [body]).entries()) {
    if (typeof row !== 'object' || row === null) continue
    for (const [field, header] of headerFields) {
      if (!Object.hasOwn(row, field) || answered().has(field)) continue
      const path = Array.isArray(body) ? [index, field] : [field]
      throw new FieldError(400, [{ path, message: `must be sent as the header ${header}, not in the body` }])
    }
  }
}
