import type { IncomingHttpHeaders } from 'node:http'
import Negotiator from 'negotiator'
import { ApiError } from './api-error.ts'
import { ENVELOPE, type HeaderSource, type ResolvedBinding } from './bindings.ts'
import { FieldError, type Path, quote } from './field-error.ts'
import { shapeOf } from './schema.ts'

const NO_TAG = 'cannot be used here: the resource has no ETag'

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

/** @throws ApiError 400 on an invalid percent-escape in the path, and on a fragment */
export function checkTarget(url: string, path: string): void {
  if (url.includes('#')) throw new ApiError(400, 'A request target has no fragment: "#" must be sent as %23')
  decode(path, 'the path')
}

/** Splits a request target, in origin form or (from a proxy) absolute form, into path and query, both as sent. */
export function split(url: string): { path: string; rawQuery: string } {
  const origin = url.startsWith('/') ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
  const mark = origin.indexOf('?')
  const path = (mark < 0 ? origin : origin.slice(0, mark)) || '/'
  return { path, rawQuery: mark < 0 ? '' : origin.slice(mark + 1) }
}

/** The part of a path below the mount path. */
export function relativePath(path: string, base: string): string {
  return base !== '' && path.startsWith(base) ? path.slice(base.length) || '/' : path
}

/**
 * The parameters of a query string, in the order sent.
 *
 * @throws ApiError 400 on a bad percent-escape
 */
export function queryParameters(rawQuery: string): readonly Parameter[] {
  if (rawQuery === '') return NO_PARAMETERS
  const parameters: Parameter[] = []
  const isPlain = !/[%+]/.test(rawQuery)
  for (const pair of rawQuery.split('&')) {
    if (pair === '') continue
    const mark = pair.indexOf('=')
    const rawName = mark < 0 ? pair : pair.slice(0, mark)
    const rawValue = mark < 0 ? '' : pair.slice(mark + 1)
    const name = isPlain ? rawName : decode(rawName.replaceAll('+', ' '), 'the query string')
    const where = `query parameter ${quote(name)}`
    parameters.push([name, isPlain ? rawValue : decode(rawValue.replaceAll('+', ' '), where)])
  }
  return parameters
}

/** A query parameter: its name and its value, decoded. */
export type Parameter = readonly [name: string, value: string]

const NO_PARAMETERS: readonly Parameter[] = []

/**
 * The values of a query parameter.
 *
 * @throws ApiError 400 if there are several values and the parameter cannot be repeated
 */
export function valuesOf(query: readonly Parameter[], name: string, isRepeated = false): string[] {
  const values: string[] = []
  for (const [given, value] of query) if (given === name) values.push(value)
  if (values.length > 1 && !isRepeated) throw fieldApiError(name, 'must be given once')
  return values
}

// The media type of the responses, as it occurs in `Accept`.
const OFFERED = ['application/json', 'application/json;charset=utf-8']

/** @throws ApiError 406 if `Accept` excludes JSON */
export function checkAccept(req: { headers: IncomingHttpHeaders }): void {
  const { accept } = req.headers
  if (!accept || accept === '*/*' || accept === 'application/json') return
  const negotiator = new Negotiator(req)
  // JSON has no media type parameters, so an unknown one, such as a version, is ignored.
  const accepted = () => negotiator.mediaTypes().map((type) => type.toLowerCase())
  if (negotiator.mediaType(OFFERED) === undefined && !accepted().includes('application/json')) {
    throw new ApiError(406, 'Accept must allow application/json, the media type of the responses')
  }
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
  for (const [name] of query) {
    if ((name !== ENVELOPE || !resolved.hasEnvelope) && !resolved.query.some((source) => source.name === name))
      throw unknownParameter(resolved, name)
  }
  if (query.length > 0) {
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

function unknownParameter(resolved: ResolvedBinding, name: string): ApiError {
  const known = [...resolved.query.map((source) => source.name), ...(resolved.hasEnvelope ? [ENVELOPE] : [])]
  const hint = known.length === 0 ? '' : `; it takes: ${known.join(', ')}`
  return fieldApiError(name, 'is not a query parameter of this operation', hint)
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

// The versions that a write allows; undefined if it allows any. A weak or foreign tag matches no record (RFC 9110), so it
// adds no version. No existing record matches If-None-Match: *.
function matchedVersions(
  { takesVersion }: ResolvedBinding,
  { 'if-match': header, 'if-none-match': noneMatch }: IncomingHttpHeaders,
): number[] | undefined {
  if (noneMatch !== undefined) {
    // A list of tags would be versions that the record must not have.
    if (noneMatch.trim() !== '*') throw fieldApiError('If-None-Match', 'must be * in a write')
    return []
  }
  if (header === undefined || header.trim() === '*') return undefined
  const tags = entityTags(header)
  if (tags === undefined) throw fieldApiError('If-Match', 'must be * or a list of quoted entity tags')
  return tags.flatMap(({ weak, tag }) => {
    const version = weak ? Number.NaN : Number(/^([1-9]\d*)-/.exec(tag)?.[1])
    return Number.isSafeInteger(version) && takesVersion(version) ? [version] : []
  })
}

/** The 412 of a write explains weak entity tags, if `If-Match` has one: the version of the record may well be current. */
export function explainWeakTags(error: unknown, { 'if-match': header }: IncomingHttpHeaders): unknown {
  if (!(error instanceof ApiError) || error.status !== 412 || header === undefined) return error
  if (!entityTags(header)?.some(({ weak }) => weak)) return error
  const { fields, headers, data, cause } = error
  return new ApiError(412, WEAK_TAG, { fields, headers, reason: 'weak_tag', data, cause })
}

const WEAK_TAG =
  'If-Match has a weak entity tag (W/"…"), and weak tags never match (RFC 9110, 13.1.1). A proxy that compresses answers weakens their tags: send the tag without W/'

// Ignoring a condition would carry out a write that must not happen (RFC 9110, 13.1.1).
function refuseConditions({ 'if-match': match, 'if-none-match': noneMatch }: IncomingHttpHeaders): void {
  if (match !== undefined && match.trim() !== '*') throw fieldApiError('If-Match', NO_TAG)
  if (noneMatch !== undefined) throw fieldApiError('If-None-Match', NO_TAG)
}

/** The entity tags of an If-Match or If-None-Match; undefined if the header is not a list of entity tags. */
export function entityTags(header: string): { weak: boolean; tag: string }[] | undefined {
  const tags: { weak: boolean; tag: string }[] = []
  const next = /\s*(?:(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"\s*)?(,|$)/y
  while (next.lastIndex < header.length) {
    const match = next.exec(header)
    if (match === null) return undefined
    if (match[2] !== undefined) tags.push({ weak: match[1] !== undefined, tag: match[2] })
    if (match[3] === '') break
  }
  return tags.length === 0 ? undefined : tags
}

function decode(text: string, where: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    throw new ApiError(400, `Malformed percent-escape in ${where}`)
  }
}

/** An ApiError 400 for one field. */
export function fieldApiError(name: string, message: string, hint = ''): ApiError {
  const field = quote(name)
  return new ApiError(400, `${field} ${message}${hint}`, { fields: [{ field, message }] })
}
