import type { ResolvedBinding } from './bindings.ts'
import { entityTags } from './conditions.ts'
import type { EnvelopeForm, Exchange } from './contract.ts'

// The characters that Node rejects in a header value.
const INVALID_IN_HEADER = /[^\t\x20-\x7e\x80-\xff]/

/** A response before serialization. */
export interface Answer {
  status: number
  headers: Record<string, string | string[]>
  body?: unknown
}

/**
 * Projects a procedure's output to the response of its binding.
 *
 * @param envelope the standard envelope, if the caller asked for it
 * @param ifNoneMatch the request's If-None-Match, if the method is safe
 * @param base the mount path of the handler; empty at the root
 */
export function answer(
  resolved: ResolvedBinding,
  exchange: Exchange,
  envelope?: EnvelopeForm,
  ifNoneMatch?: string,
  base = '',
): Answer {
  const { binding, shows, form, facts } = resolved
  const output = exchange.output as Record<string, unknown>
  const headers: Record<string, string> = {}
  for (const { name, value } of resolved.answerHeaders) {
    const text = value(exchange)
    if (text !== undefined) headers[name] = isFromRoot(name, text) ? `${base}${text}` : text
  }
  if (binding.etag !== undefined) {
    // Version and shape instead of a hash of the body: cheaper, and each binding has its own tag.
    const tag = `${output[binding.etag]}-${form(envelope)}`
    headers.ETag = `"${tag}"`
    if (ifNoneMatch !== undefined && isMatched(ifNoneMatch, tag)) return { status: 304, headers }
  }
  if (resolved.status === 204)
    return envelope ? { status: 200, headers, body: envelope.success({}, {}) } : { status: 204, headers }
  const { responseBody } = binding
  const body = shows().parse(responseBody === undefined ? output : output[responseBody])
  if (!envelope) return { status: resolved.status, headers, body }
  const data = binding.envelope === undefined ? body : { [binding.envelope]: body }
  return {
    status: resolved.status,
    headers,
    body: envelope.success(data as Record<string, unknown>, facts.parse(output)),
  }
}

// A Location without a host: the contract states it relative to the mount path.
function isFromRoot(name: string, value: string): boolean {
  return name.toLowerCase() === 'location' && /^\/(?!\/)/.test(value)
}

const WITHOUT_BODY = new Set([204, 205, 304])

/** A serialized response. */
export interface Ready {
  status: number
  headers: Record<string, string | string[] | number>
  text: string | undefined
}

/** @throws TypeError on an invalid header value, before any header is set, so that the error response contains none of them */
export function makeReady({ status, headers, body }: Answer): Ready {
  if (!(status >= 200 && status <= 599)) throw new TypeError(`An answer cannot have the status ${status}`)
  for (const name of Object.keys(headers)) {
    if (INVALID_IN_HEADER.test(headers[name] as string)) throw new TypeError(`The header ${name} has an invalid value`)
  }
  if (body === undefined || WITHOUT_BODY.has(status)) return { status, headers, text: undefined }
  const text = JSON.stringify(body)
  return {
    status,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      ...headers,
      'Content-Length': Buffer.byteLength(text),
    },
    text,
  }
}

function isMatched(ifNoneMatch: string, tag: string): boolean {
  return ifNoneMatch.trim() === '*' || (entityTags(ifNoneMatch)?.some((candidate) => candidate.tag === tag) ?? false)
}
