import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { checkAnswer } from '../document-check.ts'
import { exchangeBytes, parseAnswers, type RawAnswer } from '../raw-http.ts'
import { collections } from '../samples.ts'
import { SECRET } from './bodies.ts'
import { malformedRequest } from './malformed.ts'
import { seededRandom } from './random.ts'
import { type FuzzRequest, randomRequest } from './requests.ts'
import { LARGEST_DRAWN_ID } from './values.ts'

export { seedOfRun } from './random.ts'

const AT_A_TIME = 8
const MOST_FAILURES = 5
const LONGEST_MS = 10_000

export interface FuzzOptions {
  seed: number
  /** Number of the first request: seed and number make a request what it is. */
  from?: number
  count: number
}

/** Of {@link fuzz}. */
interface KeyedOptions extends FuzzOptions {
  /** An administrator's, from {@link createFuzzKey}: else the first key that is drawn shuts out all that comes after. */
  key: string
}

export interface FuzzOutcome {
  statuses: Set<number>
  /** Each with its seed, its number and the request, at most five. */
  failures: string[]
}

/** Makes an administrator's key, at a service that has none, which no drawn request revokes. */
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

/** Sends random requests to a service and checks that each is answered in time, in a known form and never with a 5xx. */
export async function fuzz(url: string, options: KeyedOptions): Promise<FuzzOutcome> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_A_TIME })
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

/** Sends bytes that are no HTTP, or hardly; each must get the standard envelope or a closed connection. */
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
    while (next < from + count && failures.length < MOST_FAILURES) {
      const number = next++
      try {
        await send(seed + number, statuses)
      } catch (error) {
        failures.push(`FUZZ_SEED=${seed}, request ${number}: ${(error as Error).message}`)
      }
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, sendSome))
  return { statuses, failures }
}

function checkRawAnswer({ status, headers, body }: RawAnswer): void {
  const told = `${status} ${body.subarray(0, 300)}`
  if (status >= 500) throw new Error(`a 5xx: ${told}`)
  if (status < 400) return
  if (headers['content-type'] !== 'application/json; charset=utf-8') throw new Error(`not JSON: ${told}`)
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
      signal: AbortSignal.timeout(LONGEST_MS),
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
  const told = `${status} ${text.slice(0, 500)}`
  if (status >= 500) throw new Error(`a 5xx: ${told}`)
  // Too long a head never becomes a request.
  if (status !== 431 && headers['x-request-id'] === undefined) throw new Error(`no X-Request-Id: ${told}`)
  if (text.includes(SECRET)) throw new Error(`the password is told: ${told}`)
  if (/\.ts:\d|node_modules|\\n +at /.test(text) && !target.startsWith('/assets')) throw new Error(`a stack: ${told}`)
  const isBodiless = method === 'HEAD' || status === 204 || status === 304
  if (isBodiless !== (text === '')) throw new Error(`a body where none belongs, or none where one does: ${told}`)
  if (isBodiless) return
  const path = decoded(target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, ''))
  const isPage = status === 200 && headers['content-type']?.startsWith('text/html')
  if (isPage) return
  if (status < 400 && !headers['content-type']?.startsWith('application/json')) throw new Error(`not JSON: ${told}`)
  const isTrpc = /^\/trpc(\/|$)/.test(path) && (status !== 405 || ['GET', 'POST'].includes(method))
  if (isTrpc && headers.vary?.includes('trpc-accept')) {
    checkTrpcStream(text, told)
    return
  }
  const body: unknown = JSON.parse(text)
  if (isTrpc) checkTrpc(body, told)
  else {
    const known = new Headers(Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]))
    // An empty segment is an id that is none; the document has no word for it.
    checkAnswer(method, path.includes('//') ? '/' : path, { status, headers: known, body })
    if (status >= 400 && !/[?&]envelope=true(&|$)/.test(target)) checkForm(path, body, told)
  }
}

// Errors under a users path are { error }, under the other collections { message }, elsewhere the standard envelope.
const OTHERS = new RegExp(`^/(${collections.filter((noun) => noun !== 'users').join('|')})(/|$)`)

function checkForm(path: string, body: unknown, told: string): void {
  const form = /^(\/api)?\/users(\/|$)/.test(path) ? ['error'] : OTHERS.test(path) ? ['message'] : ['status', 'error']
  if (Object.keys(body as object).join() !== form.join())
    throw new Error(`not the form of this path, { ${form} }: ${told}`)
}

function checkTrpc(body: unknown, told: string): void {
  for (const answer of [body].flat()) {
    const { result, error } = answer as {
      result?: { data?: unknown }
      error?: { message?: unknown; code?: unknown; data?: object }
    }
    if ((result === undefined) === (error === undefined)) throw new Error(`not tRPC's shape: ${told}`)
    if (error === undefined) continue
    const { message, code, data = {} } = error
    if (typeof message !== 'string' || typeof code !== 'number') throw new Error(`not tRPC's shape: ${told}`)
    if ('stack' in data || Number((data as { httpStatus?: number }).httpStatus) >= 500)
      throw new Error(`a stack or a 5xx: ${told}`)
  }
}

// Several calls may ask for their answers one by one, each on a line.
function checkTrpcStream(text: string, told: string): void {
  for (const line of text.split('\n')) if (line.trim() !== '') JSON.parse(line)
  if (/"stack"|"httpStatus":5/.test(text)) throw new Error(`a stack or a 5xx: ${told}`)
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
