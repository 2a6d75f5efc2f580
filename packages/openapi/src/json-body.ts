import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from './api-error.ts'
import { tooLarge } from './body.ts'
import type { Binding } from './contract.ts'
import { jsonFault } from './json-fault.ts'
import { DEEPEST, isDeeper, isDeepText, tooDeep } from './nesting.ts'
import type { Incoming } from './request.ts'

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

function checkEncoding(headers: IncomingHttpHeaders): void {
  const { 'content-encoding': encoding = 'identity', 'transfer-encoding': transfer = 'chunked' } = headers
  const isEncoded = encoding.toLowerCase() !== 'identity'
  if (!isEncoded && transfer.toLowerCase() === 'chunked') return
  throw new ApiError(
    415,
    isEncoded ? 'A body must be sent without Content-Encoding' : 'Transfer-Encoding must be chunked',
    {
      headers: { 'Accept-Encoding': 'identity' },
    },
  )
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
    const position = jsonFault(text, (error as Error).message)
    throw new ApiError(400, `Body is not valid JSON${position === undefined ? '' : ` (at position ${position})`}`)
  }
}
