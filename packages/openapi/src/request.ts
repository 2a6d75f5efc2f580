import type { IncomingHttpHeaders } from 'node:http'
import Negotiator from 'negotiator'
import { ApiError } from './api-error.ts'
import { ENVELOPE, type HeaderSource, type ResolvedBinding } from './bindings.ts'
import { tooLarge } from './body.ts'
import type { Binding } from './contract.ts'
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

/**
 * Reads the bytes of a request's body.
 *
 * @param limit bytes
 * @throws ApiError 413 over the limit, 400 if the body is incomplete
 */
export type ReadBytes<Req> = (req: Req, limit: number) => Promise<Uint8Array>

export const DEFAULT_BODY_LIMIT = 1024 * 1024

/**
 * Reads the JSON body of a request; undefined if it is missing or `null`, or if it has another media type and the binding
 * treats that as missing. `req.body` may already contain it: parsed, or as text or bytes.
 *
 * @throws ApiError 400 if the body is not JSON, 413 over the limit, 415 for another media type
 */
export async function readJson<Req extends Pick<Incoming, 'headers' | 'body'>>(
  req: Req,
  binding: Pick<Binding, 'bodyLimit' | 'otherMediaType'>,
  readBytes: ReadBytes<Req>,
): Promise<unknown> {
  const { body } = req
  if (body === undefined) checkEncoding(req.headers)
  const type = req.headers['content-type']
  const limit = binding.bodyLimit ?? DEFAULT_BODY_LIMIT
  const isParsed = body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)
  if (isParsed && Number(req.headers['content-length']) > limit) throw tooLarge(limit)
  const bytes = isParsed ? undefined : await readBytes(req, limit)
  // Checked first, because without a body the media type does not matter.
  if (bytes === undefined ? type === undefined : isNothing(bytes, type)) return undefined
  if (!isJson(type)) {
    if (binding.otherMediaType === 400 && !/^application\/json *(;|$)/i.test(type ?? '')) return undefined
    throw notJson()
  }
  if (bytes !== undefined) return parse(bytes) ?? undefined
  return isDeeper(body, DEEPEST) ? TOO_DEEP : (body ?? undefined)
}

/** @throws ApiError 400 for a body of {@link readJson} that is nested too deeply */
export function refuseDeepBody(body: unknown): void {
  if (body === TOO_DEEP) throw tooDeep(DEEPEST)
}

const DEEPEST = 32
// A list of rows, and a batch of calls, are one level each.
const DEEPEST_CALL = DEEPEST + 2

/**
 * The text of a JSON body.
 *
 * @param read reads the body, up to a limit
 * @throws ApiError 415 for another encoding, media type or charset, 400 for bytes that are not UTF-8
 */
export async function readJsonText(headers: IncomingHttpHeaders, read: () => Promise<Uint8Array>): Promise<string> {
  checkEncoding(headers)
  if (!isJson(headers['content-type'])) throw notJson()
  return decoded(await read())
}

/**
 * Checks the nesting of JSON text of tRPC calls. Parsing it costs up to 0.2 s per megabyte of brackets; this costs 4 ms.
 *
 * @throws ApiError 400
 */
export function checkDepth(text: string): void {
  if (isDeepText(text, DEEPEST_CALL)) throw tooDeep(DEEPEST_CALL)
}

function isDeepText(text: string, deepest: number): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === BRACKET || code === BRACE) {
      if (++depth > deepest) return true
    } else if (code === BRACKET + 2 || code === BRACE + 2) depth--
  }
  return false
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const BRACKET = 0x5b
const BRACE = 0x7b

/** The index of the quote that ends a string of JSON; the length of the text if there is none. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at++
  }
  return text.length
}

function tooDeep(deepest: number): ApiError {
  return new ApiError(400, `Body must not be nested deeper than ${deepest} levels`)
}

function checkEncoding({ 'content-encoding': encoding }: IncomingHttpHeaders): void {
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return
  throw new ApiError(415, 'A body must be sent without Content-Encoding', {
    headers: { 'Accept-Encoding': 'identity' },
  })
}

function notJson(): ApiError {
  return new ApiError(415, 'A body must be sent as Content-Type: application/json, in UTF-8', {
    headers: { Accept: 'application/json' },
  })
}

function isNothing(bytes: Uint8Array, type: string | undefined): boolean {
  return bytes.every(isBlank) || (type === undefined && new TextDecoder('latin1').decode(bytes).trim() === 'null')
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)
}

function isJson(contentType = ''): boolean {
  if (contentType === 'application/json') return true
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length)
  return type === 'application/json' && (charset === undefined || isUtf8(charset.replaceAll('"', '')))
}

/** Whether a label names UTF-8: one of the Encoding standard, or the one that only IANA has. */
function isUtf8(label: string): boolean {
  try {
    return label === 'csutf8' || new TextDecoder(label).encoding === 'utf-8'
  } catch {
    return false
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decoded(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new ApiError(400, 'Body is not valid UTF-8')
  }
}

// Stands for a body that is not parsed, because it is nested too deeply. The 404 for a missing record comes before its 400.
const TOO_DEEP = Object.freeze({})

function parse(bytes: Uint8Array): unknown {
  const text = decoded(bytes)
  if (isDeepText(text, DEEPEST)) return TOO_DEEP
  try {
    return JSON.parse(text)
  } catch (error) {
    // The message of the parser quotes the body, which may contain a password. Only the position at its end is safe.
    const position = /position (\d+)(?: \(line \d+ column \d+\))?$/.exec((error as Error).message)?.[1]
    throw new ApiError(400, `Body is not valid JSON${position === undefined ? '' : ` (at position ${position})`}`)
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1))
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
