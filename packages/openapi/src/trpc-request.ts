import type { Request } from 'express'
import { readBytes } from './body.ts'

/** A tRPC request in its plain form: calls of known procedures, JSON in and JSON out. */
export interface PlainRequest {
  /** `users.get` of each call. */
  paths: string[]
  isBatch: boolean
  /** As the query string of a GET has it. */
  input: string
}

/** What a plain request may be. */
export interface Limits {
  path: string
  bodyLimit: number
  mostCalls: number
}

/**
 * Reads the head of a request. Nothing is judged here: whatever is out of the ordinary, and be it
 * right, is no plain request.
 *
 * @param typeOf tells of a path whether its procedure is a query or a mutation, if it is one
 */
export function plainRequest(
  req: Request,
  typeOf: (path: string) => 'query' | 'mutation' | undefined,
  { path: base, bodyLimit, mostCalls }: Limits,
): PlainRequest | undefined {
  if (!req.url.startsWith(base)) return undefined
  const { method, headers } = req
  if (!(method === 'GET' ? isPlainGet(req) : method === 'POST' && isPlainPost(req, bodyLimit))) return undefined
  if (headers['trpc-accept'] !== undefined || headers.accept?.includes('application/jsonl')) return undefined
  const parts = TARGET.exec(req.url.slice(base.length))
  const query = parts && readQuery(parts[2] ?? '')
  if (!query) return undefined
  const path = parts[1] as string
  const paths = query.isBatch ? path.split(',') : [path]
  const type = method === 'GET' ? 'query' : 'mutation'
  if (paths.length > mostCalls || paths.some((path) => typeOf(path) !== type)) return undefined
  return { paths, ...query }
}

// One segment, and characters that mean the same to every reader of URLs.
const TARGET = /^\/([\w.,]+)(?:\?([!-"$-~]*))?$/

function isPlainGet({ headers }: Request): boolean {
  const type = headers['content-type']
  return type === undefined || type === 'application/json'
}

// A body whose length is known and allowed, and which nobody has read.
function isPlainPost(req: Request, limit: number): boolean {
  const { headers } = req
  if (headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() !== 'application/json') return false
  if (headers['transfer-encoding'] !== undefined || headers['content-length'] === undefined) return false
  return Number(headers['content-length']) <= limit && req.body === undefined && !req.readableEnded
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
const utf8 = new TextDecoder()

/**
 * The input of each call, undefined for a call without one.
 *
 * @returns undefined where there is none to be read; the body, if there was one, is then left in `req.body`
 * @throws ApiError 400 when the body broke off
 */
export async function readInputs(req: Request, request: PlainRequest): Promise<unknown[] | undefined> {
  if (req.method === 'GET') return parseInputs(request, () => decodeURIComponent(request.input.replaceAll('+', ' ')))
  const text = utf8.decode(await readBytes(req, Number.POSITIVE_INFINITY))
  const inputs = parseInputs(request, () => text)
  // tRPC takes off a byte order mark, and must find the text as it is here.
  if (inputs === undefined) req.body = `\uFEFF${text}`
  return inputs
}

function parseInputs({ isBatch, paths }: PlainRequest, read: () => string): unknown[] | undefined {
  let inputs: unknown
  try {
    const text = read()
    if (text === '') return NO_INPUTS
    inputs = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isBatch) return [inputs]
  if (typeof inputs !== 'object' || inputs === null || Array.isArray(inputs)) return undefined
  return paths.map((_, index) => (inputs as Record<number, unknown>)[index])
}
