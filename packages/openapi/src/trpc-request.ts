import type { Request } from 'express'
import { ApiError } from './api-error.ts'
import { readBytes } from './body.ts'
import { checkDepth, readJsonText } from './request.ts'

/** An ordinary tRPC request: calls of known procedures with JSON input and output. */
export interface PlainRequest {
  /** The procedure path of each call: `users.get`. */
  paths: string[]
  isBatch: boolean
  /** The encoded `input` parameter of a GET. */
  input: string
}

/** The path that plain requests begin with, and the calls that one may have. */
export interface Limits {
  path: string
  maxCalls: number
}

/**
 * Recognizes a plain request from its head. It does not validate: any unusual request, even a correct one, is not plain.
 *
 * @param typeOf returns the type of the procedure at a path; undefined for an unknown path
 */
export function plainRequest(
  req: Request,
  typeOf: (path: string) => 'query' | 'mutation' | undefined,
  { path: base, maxCalls }: Limits,
): PlainRequest | undefined {
  if (!req.url.startsWith(base)) return undefined
  const { method, headers } = req
  if (!(method === 'GET' ? isPlainGet(req) : method === 'POST' && isPlainPost(req))) return undefined
  if (headers['trpc-accept'] !== undefined || headers.accept?.includes('application/jsonl')) return undefined
  const parts = TARGET.exec(req.url.slice(base.length))
  const query = parts && readQuery(parts[2] ?? '')
  if (!query) return undefined
  const path = parts[1] as string
  const paths = query.isBatch ? path.split(',') : [path]
  const type = method === 'GET' ? 'query' : 'mutation'
  if (paths.length > maxCalls || paths.some((path) => typeOf(path) !== type)) return undefined
  return { paths, ...query }
}

// One path segment, with only characters that all URL parsers read alike.
const TARGET = /^\/([\w.,]+)(?:\?([!-"$-~]*))?$/

function isPlainGet({ headers }: Request): boolean {
  const type = headers['content-type']
  return type === undefined || type === 'application/json'
}

// A body that has not been read.
function isPlainPost(req: Request): boolean {
  const { headers } = req
  if (headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() !== 'application/json') return false
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return false
  return req.body === undefined && !req.readableEnded
}

function readQuery(text: string): { isBatch: boolean; input: string } | undefined {
  let isBatch = false
  let input: string | undefined
  for (const pair of text === '' ? [] : text.split('&')) {
    if (pair === 'batch=1' && !isBatch) isBatch = true
    else if (pair.startsWith('input=') && input === undefined) input = pair.slice('input='.length)
    else return undefined
  }
  return { isBatch, input: input ?? '' }
}

const NO_INPUTS: unknown[] = []

/**
 * Reads the input of each call, undefined for a call without input.
 *
 * @returns undefined if the input is not valid JSON or not a batch; the body, if any, is then in `req.body`
 * @throws ApiError 415 for another charset or encoding, 400 if the body is incomplete, not UTF-8 or nested too deeply, 413 over
 * the limit
 */
export async function readInputs(
  req: Request,
  request: PlainRequest,
  bodyLimit: number,
): Promise<unknown[] | undefined> {
  if (req.method === 'GET') return parseInputs(request, () => decodeURIComponent(request.input.replaceAll('+', ' ')))
  const text = await readJsonText(req.headers, () => readBytes(req, bodyLimit))
  const inputs = parseInputs(request, () => text)
  // tRPC strips one byte order mark, so add one to preserve the text.
  if (inputs === undefined) req.body = `\uFEFF${text}`
  return inputs
}

function parseInputs({ isBatch, paths }: PlainRequest, read: () => string): unknown[] | undefined {
  let inputs: unknown
  try {
    const text = read()
    if (text === '') return NO_INPUTS
    checkDepth(text)
    inputs = JSON.parse(text)
  } catch (error) {
    if (error instanceof ApiError) throw error
    return undefined
  }
  if (!isBatch) return [inputs]
  if (typeof inputs !== 'object' || inputs === null || Array.isArray(inputs)) return undefined
  return paths.map((_, index) => (inputs as Record<number, unknown>)[index])
}
