import { gzipSync } from 'node:zlib'
import { createDocument } from '../../src/document.ts'
import { jsonBody, randomText } from './bodies.ts'
import { queryString } from './queries.ts'
import type { Random } from './random.ts'
import { trpcRequest } from './trpc.ts'
import {
  CONTENT_TYPES,
  ENDINGS,
  HEADERS,
  IDS,
  LARGEST_DRAWN_ID,
  METHODS,
  PLAIN_PATHS,
  STRAY_TARGETS,
} from './values.ts'

export interface FuzzRequest {
  method: string
  /** The target of the request line. */
  target: string
  headers: Record<string, string | string[]>
  body?: Buffer
  /** Without a Content-Length. */
  chunked: boolean
}

/** A request to an operation of the OpenAPI document or to another path: valid, nearly valid or invalid. */
export function randomRequest(random: Random): FuzzRequest {
  const kind = random.int(1, 100)
  if (kind <= 65) return operationRequest(random)
  if (kind <= 85) {
    const { method, target, body } = trpcRequest(random)
    return request(random, method, target, body)
  }
  if (kind <= 95) return request(random, random.pick(METHODS), strayTarget(random))
  return request(random, random.oneIn(2) ? 'GET' : random.pick(METHODS), random.pick(PLAIN_PATHS))
}

interface Operation {
  method: string
  path: string
  query: string[]
  hasBody: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: a parsed document of any shape
const document: any = JSON.parse(JSON.stringify(createDocument()))
const operations = Object.keys(document.paths).flatMap((path) =>
  Object.entries<{ parameters?: { in: string; name: string }[]; requestBody?: object }>(document.paths[path]).map(
    ([method, { parameters = [], requestBody }]): Operation => ({
      method: method.toUpperCase(),
      path,
      query: [...parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name), 'envelope'],
      hasBody: requestBody !== undefined,
    }),
  ),
)

function operationRequest(random: Random): FuzzRequest {
  const operation = random.pick(operations)
  // Fewer deletions, so that enough records remain.
  const { method, path, query, hasBody } = operation.method === 'DELETE' ? random.pick(operations) : operation
  const sent = random.oneIn(10) ? random.pick(METHODS) : method
  const filled = path.replace(/\{\w+\}/g, () =>
    random.oneIn(6) ? random.pick(IDS) : String(random.int(1, LARGEST_DRAWN_ID)),
  )
  const ending = random.oneIn(20) ? random.pick(ENDINGS) : ''
  const body = hasBody || random.oneIn(12) ? jsonBody(random, path) : undefined
  return request(random, sent, filled + ending + queryString(random, query, path), body)
}

function strayTarget(random: Random): string {
  if (random.oneIn(6)) return `/${randomText(random, 300).replace(/[^\x21-\x7e]/g, '~')}`
  return random.pick(STRAY_TARGETS) + (random.oneIn(3) ? queryString(random, ['page', 'limit'], '/items/') : '')
}

function request(random: Random, method: string, target: string, body?: Buffer): FuzzRequest {
  const headers: FuzzRequest['headers'] = {}
  if (body !== undefined && !random.oneIn(20)) headers['Content-Type'] = 'application/json'
  if (random.oneIn(12)) headers['Content-Type'] = random.pick(CONTENT_TYPES)
  const likely = method === 'GET' ? ['If-None-Match'] : ['If-Match', 'Idempotency-Key']
  const odd = Array.from({ length: random.oneIn(4) ? random.int(1, 3) : 0 }, () => random.pick(Object.keys(HEADERS)))
  const isLikely = (name: string) => random.oneIn(name === 'If-Match' ? 2 : 6)
  for (const name of [...likely.filter(isLikely), ...odd]) headers[name] = random.pick(HEADERS[name] ?? [])
  const sent = body !== undefined && random.oneIn(150) ? atTheLimit(random) : body
  const isPacked = random.oneIn(40)
  if (isPacked) headers['Content-Encoding'] = random.pick(['gzip', 'identity', 'deflate', 'br', 'x', 'gzip, gzip'])
  return {
    ...{ method, target, headers, chunked: random.oneIn(10) },
    ...(sent && { body: isPacked && headers['Content-Encoding'] === 'gzip' ? gzipSync(sent) : sent }),
  }
}

const MEBIBYTE = 1024 * 1024

function atTheLimit(random: Random): Buffer {
  return Buffer.alloc(MEBIBYTE * random.pick([1, 4]) + random.int(-1, 1), random.pick(['"', ' ', '[', 'a']))
}
