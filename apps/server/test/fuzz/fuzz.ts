import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { checkAnswer } from '../document-check.ts'
import { exchangeBytes, parseAnswers, type RawAnswer } from '../raw-http.ts'
import { collections, pathOf } from '../samples.ts'
import { SECRET } from './bodies.ts'
import { malformedRequest } from './malformed.ts'
import { seededRandom } from './random.ts'
import { type FuzzRequest, randomRequest } from './requests.ts'
import { LARGEST_DRAWN_ID } from './values.ts'

export { seedOfRun } from './random.ts'

const CONCURRENCY = 8
const MAX_FAILURES = 5
const TIMEOUT_MS = 10_000

export interface FuzzOptions {
  seed: number
  /** Number of the first request. A request is determined by the seed and its number. */
  from?: number
  count: number
}

/** Options of {@link fuzz}. */
interface KeyedOptions extends FuzzOptions {
  /**
   * The key of an administrator from {@link createFuzzKey}. Without it, the first key that a random request creates
   * would lock out all later requests.
   */
  key: string
}

export interface FuzzOutcome {
  statuses: Set<number>
  /** At most five failures, each with its seed, its number and the request. */
  failures: string[]
}

/** Creates an administrator's key at a service without keys. No random request can revoke it. */
export async function createFuzzKey(url: string): Promise<string> {
  let key = ''
  for (let id = 1; id <= LARGEST_DRAWN_ID + 1; id++) {
    const response = await fetch(`${url}/api/keys`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(key && { Authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ name: 'fuzz', role: 'admin' }),
    })
    key = ((await response.json()) as { key: string }).key
  }
  return key
}

/** Sends random requests to a service and checks that each gets a timely response in a known form and never a 5xx. */
export async function fuzz(url: string, options: KeyedOptions): Promise<FuzzOutcome> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY })
  try {
    return await sendAll(options, async (number, statuses) => {
      const random = seededRandom(number)
      const request = randomRequest(random)
      if (!random.oneIn(20)) request.headers.Authorization = `Bearer ${options.key}`
      try {
        const answer = await send(url, agent, request)
        statuses.add(answer.status)
        checkFuzzAnswer(request, answer)
      } catch (error) {
        throw new Error(`${describe(request)}\n  ${(error as Error).message}`)
      }
    })
  } finally {
    agent.destroy()
  }
}

/** Sends bytes that are not valid HTTP; each must get the standard envelope or a closed connection. */
export function fuzzMalformed(url: string, options: FuzzOptions): Promise<FuzzOutcome> {
  return sendAll(options, async (number, statuses) => {
    const random = seededRandom(number)
    const bytes = malformedRequest(random)
    try {
      for (const answer of parseAnswers(await exchangeBytes(url, bytes, random.oneIn(10)))) {
        statuses.add(answer.status)
        checkRawAnswer(answer)
      }
    } catch (error) {
      throw new Error(
        `malformed ${JSON.stringify(bytes.subarray(0, 500).toString('latin1'))}\n  ${(error as Error).message}`,
      )
    }
  })
}

async function sendAll(
  { seed, from = 0, count }: FuzzOptions,
  send: (seed: number, statuses: Set<number>) => Promise<void>,
): Promise<FuzzOutcome> {
  const statuses = new Set<number>()
  const failures: string[] = []
  let next = from
  const sendSome = async () => {
    while (next < from + count && failures.length < MAX_FAILURES) {
      const number = next++
      try {
        await send(seed + number, statuses)
      } catch (error) {
        failures.push(`FUZZ_SEED=${seed}, request ${number}: ${(error as Error).message}`)
      }
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, sendSome))
  return { statuses, failures }
}

// An unknown method and another version of HTTP (RFC 9110, 15.6).
const REFUSED_BY_PARSER = [501, 505]

function checkRawAnswer({ status, headers, body }: RawAnswer): void {
  const summary = `${status} ${body.subarray(0, 300)}`
  if (status >= 500 && !REFUSED_BY_PARSER.includes(status)) throw new Error(`a 5xx: ${summary}`)
  if (status < 400) return
  if (headers['content-type'] !== 'application/json; charset=utf-8') throw new Error(`not JSON: ${summary}`)
  checkAnswer('GET', '/', { status, headers: new Headers(), body: JSON.parse(body.toString()) })
}

interface FuzzAnswer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

function send(url: string, agent: Agent, request: FuzzRequest): Promise<FuzzAnswer> {
  const { hostname, port } = new URL(url)
  const { method, target, headers, body, chunked } = request
  const framing: Record<string, string> = chunked
    ? { 'Transfer-Encoding': 'chunked' }
    : { 'Content-Length': String(body?.length ?? 0) }
  return new Promise((resolve, reject) => {
    const sending = httpRequest({
      ...{ hostname, port, agent, method, path: target, headers: { ...headers, ...(body && framing) } },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    sending.on('error', reject)
    sending.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const { statusCode = 0, headers } = response
        resolve({ status: statusCode, headers, text: Buffer.concat(chunks).toString() })
      })
    })
    sending.end(body)
  })
}

function checkFuzzAnswer({ method, target }: FuzzRequest, { status, headers, text }: FuzzAnswer): void {
  const summary = `${status} ${text.slice(0, 500)}`
  if (status >= 500) throw new Error(`a 5xx: ${summary}`)
  // A head that exceeds the limit never becomes a request.
  if (status !== 431 && headers['x-request-id'] === undefined) throw new Error(`no X-Request-Id: ${summary}`)
  if (text.includes(SECRET)) throw new Error(`the response contains the password: ${summary}`)
  if (/\.ts:\d|node_modules|\\n +at /.test(text) && !target.startsWith('/assets'))
    throw new Error(`a stack: ${summary}`)
  const isBodiless = method === 'HEAD' || status === 204 || status === 304
  if (isBodiless !== (text === '')) throw new Error(`an unexpected or missing body: ${summary}`)
  if (isBodiless) return
  const path = decoded(target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, ''))
  const query = /\?[^#]*/.exec(target)?.[0] ?? ''
  const isPage = status === 200 && headers['content-type']?.startsWith('text/html')
  if (isPage) return
  if (status < 400 && !headers['content-type']?.startsWith('application/json')) throw new Error(`not JSON: ${summary}`)
  const isProblem = headers['content-type'] === 'application/problem+json'
  const isTrpc = !isProblem && /^\/trpc(\/|$)/.test(path) && (status !== 405 || ['GET', 'POST'].includes(method))
  if (isTrpc && headers.vary?.includes('trpc-accept')) {
    checkTrpcStream(text, summary)
    return
  }
  const body: unknown = JSON.parse(text)
  if (isTrpc) checkTrpc(body, summary)
  else {
    const known = new Headers(Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]))
    // An empty path segment is an invalid id, which the document cannot express.
    checkAnswer(method, path.includes('//') ? '/' : path.replaceAll('?', '%3F') + query, {
      status,
      headers: known,
      body,
    })
    if (status >= 400 && !isProblem && !/[?&]envelope=true(&|$)/.test(target)) checkForm(path, body, summary)
  }
}

// Errors under a users path are { error }, under the other collections { message }, elsewhere the standard envelope.
const MESSAGE_PATHS = new RegExp(
  `^(${collections
    .filter((noun) => noun !== 'users')
    .map(pathOf)
    .join('|')})(/|$)`,
)

function checkForm(path: string, body: unknown, summary: string): void {
  const form = /^(\/api)?\/users(\/|$)/.test(path)
    ? ['error']
    : MESSAGE_PATHS.test(path)
      ? ['message']
      : ['status', 'error']
  if (Object.keys(body as object).join() !== form.join())
    throw new Error(`not the form of this path, { ${form} }: ${summary}`)
}

function checkTrpc(body: unknown, summary: string): void {
  for (const answer of [body].flat()) {
    const { result, error } = answer as {
      result?: { data?: unknown }
      error?: { message?: unknown; code?: unknown; data?: object }
    }
    if ((result === undefined) === (error === undefined)) throw new Error(`not tRPC's shape: ${summary}`)
    if (error === undefined) continue
    const { message, code, data = {} } = error
    if (typeof message !== 'string' || typeof code !== 'number') throw new Error(`not tRPC's shape: ${summary}`)
    if ('stack' in data || Number((data as { httpStatus?: number }).httpStatus) >= 500)
      throw new Error(`a stack or a 5xx: ${summary}`)
  }
}

// A batch may stream its responses, one on each line.
function checkTrpcStream(text: string, summary: string): void {
  for (const line of text.split('\n')) if (line.trim() !== '') JSON.parse(line)
  if (/"stack"|"httpStatus":5/.test(text)) throw new Error(`a stack or a 5xx: ${summary}`)
}

function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

function describe({ method, target, headers, body, chunked }: FuzzRequest): string {
  const sent =
    body === undefined ? 'no body' : `${body.length} bytes ${JSON.stringify(body.subarray(0, 300).toString('latin1'))}`
  return `${method} ${target.slice(0, 300)} ${JSON.stringify(headers).slice(0, 500)} ${chunked ? 'chunked ' : ''}${sent}`
}
