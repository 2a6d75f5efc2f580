import { ApiError } from './api-error.ts'
import { quote } from './field-error.ts'

/** @throws ApiError 400 on an invalid percent-escape in the path, and on a fragment */
export function checkTarget(url: string, path: string): void {
  if (url.includes('#')) throw new ApiError(400, 'A request target has no fragment: "#" must be sent as %23')
  decode(path, () => 'the path')
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
    const name = isPlain ? rawName : decode(rawName.replaceAll('+', ' '), () => 'the query string')
    const where = () => `query parameter ${quote(name)}`
    parameters.push([name, isPlain ? rawValue : decode(rawValue.replaceAll('+', ' '), where)])
  }
  return parameters
}

/** @throws ApiError 400 for a parameter with another name than those that are `known` */
export function checkParameters(query: readonly Parameter[], known: readonly string[]): void {
  const unknown = query.find(([name]) => !known.includes(name))
  if (unknown === undefined) return
  const hint = known.length === 0 ? '' : `; it takes: ${known.join(', ')}`
  throw fieldApiError(unknown[0], 'is not a query parameter of this operation', hint)
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

function decode(text: string, where: () => string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    throw new ApiError(400, `Malformed percent-escape in ${where()}`)
  }
}

/** An ApiError 400 for one field. */
export function fieldApiError(name: string, message: string, hint = ''): ApiError {
  const field = quote(name)
  return new ApiError(400, `${field} ${message}${hint}`, { fields: [{ field, message }] })
}
