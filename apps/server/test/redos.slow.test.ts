import { contract } from '@resource/contract'
import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { createDocument } from '../src/document.ts'
import { shareTestServer } from './harness.ts'
import { exchangeBytes } from './raw-http.ts'

const LENGTH = 8_000
// Linear work on such a text takes a few milliseconds at most, quadratic work 70 or more.
const MAX_MS = 15
const ATTEMPTS = 5

/**
 * Texts that cause backtracking: repeats of one match, repeats of two ambiguous matches, and an end that does not
 * match.
 */
const REPEATED = [
  ...['a', '0', '-', '.', '@', '!', '_', ' ', '\t', '"', ',', 'W/"1-a",', '""', 'a.', 'a-', 'a@', 'a@a.', 'a0', '-a-'],
  ...['é', '\u{1f600}', '\ud800', '0.', '2026-01-01T00:00:00.000', '00:', '1-', 'a a', '%2e', '(', '[', '\\'],
]
const STARTS = ['', 'a@', 'a@a.', 'a', '"', '2026-01-01T00:00:00.', '-']
const ENDS = ['', '!', '@', '\0', '"', '.', 'a', 'Z', ' ']

/** The texts, in groups that differ in their ends. */
const attacks: string[][] = REPEATED.flatMap((text) => {
  const middle = text.repeat(LENGTH / text.length)
  return STARTS.map((start) => ENDS.map((end) => start + middle + end))
})

/** The minimum CPU time of several attempts, in ms: other load and garbage collection only add to it. */
function minimumMs(work: () => unknown, attempts = ATTEMPTS): number {
  let least = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < attempts && least > MAX_MS; attempt++) {
    const begin = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(begin)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

/** The first text on which the work takes longer than linear work would, and its time. */
function superlinear(work: (text: string) => unknown): string | undefined {
  for (const group of attacks) {
    // To read the CPU time costs more than most of the work. A group within the limit has no text over it.
    if (minimumMs(() => group.forEach(work), 1) <= MAX_MS) continue
    for (const attack of group) {
      const ms = minimumMs(() => work(attack))
      if (ms > MAX_MS) return `${attack.slice(0, 30)}…${attack.slice(-3)}: ${ms} ms`
    }
  }
  return undefined
}

const tested = new Set<unknown>()

/** The fields that no earlier input has: a list and its summary have the same filters, for example. */
function newFieldsOf(schema: z.ZodType): string[] {
  const { shape } = schema as unknown as { shape: object }
  const added = Object.entries(shape).filter(([, field]) => !tested.has(field))
  for (const [, field] of added) tested.add(field)
  return added.map(([name]) => name)
}

/** The input schema of each procedure with fields of its own. */
const inputs = Object.entries(contract).flatMap(([noun, { procedures }]) =>
  Object.entries(procedures).flatMap(([verb, { input }]) => {
    const fields = newFieldsOf(input as z.ZodType)
    return fields.length === 0 ? [] : [{ name: `${noun}.${verb}`, input: input as z.ZodType, fields }]
  }),
)
const BULK = ['users', 'items', 'books']

describe('ReDoS: work grows at most linearly with the input', () => {
  test('the limit finds quadratic work', () => {
    expect(superlinear((text) => /\s+$/.test(text))).toMatch(/ ms$/)
  })

  test.each(inputs)('$name', ({ input, fields }) => {
    const work = (text: string) => {
      const record = Object.fromEntries(
        ['name', 'title', 'author', 'email', 'password', 'category', 'published_date', 'role'].map((name) => [
          name,
          text,
        ]),
      )
      return input.safeParse(Object.fromEntries(fields.map((name) => [name, BULK.includes(name) ? [record] : text])))
    }
    expect(superlinear(work)).toBeUndefined()
  })

  test('for every pattern of the document', () => {
    const patterns = new Set<string>()
    const collect = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      if ('pattern' in value && typeof value.pattern === 'string') patterns.add(value.pattern)
      for (const inner of Object.values(value)) collect(inner)
    }
    collect(JSON.parse(JSON.stringify(createDocument())))
    expect(patterns.size).toBeGreaterThan(3)
    for (const pattern of patterns) {
      const expression = new RegExp(pattern, 'u')
      expect(superlinear((text) => expression.test(text))).toBeUndefined()
    }
  })
})

const KB = 1024
const MAX_REQUEST_MS = 10
// Node accepts 16 KiB of request head.
const HEAD_LENGTHS = [1, 2, 4, 8, 15].map((size) => size * KB)
const BODY_LENGTHS = [1, 2, 4, 8, 16].map((size) => size * KB)
// Less is the cost of any request, whose variations are no growth.
const MEASURABLE_MS = 2
const MAX_GROWTH = 2.5

/** What parts of a request are made of: separators and escapes of paths, queries, headers and JSON. */
const PIECES = [
  ...[
    '/',
    'a/',
    '../',
    '//',
    '.',
    '%2f',
    '%',
    '%c3%a9',
    '+',
    ' ',
    '\t',
    'a ',
    '=',
    '&',
    'a=1&',
    'envelope=true&',
    ',',
    'a,',
  ],
  ...[
    ';',
    'a;',
    ';q=0,',
    'a/b,',
    '"',
    '"a",',
    'W/"1-a",',
    '\\',
    '\\"',
    '\\u0000',
    '[',
    '{',
    '()',
    '<',
    ':',
    '-',
    '_',
    'a',
    '0',
  ],
  ...[
    '0.',
    '1e',
    'é',
    '\u{1f600}',
    '@',
    'a@',
    '#',
    '?',
    '!',
    '*',
    'a=b;',
    'for=1.1.1.1,',
    '127.0.0.1,',
    '1.1 a,',
    'aa.',
  ],
]
/** The parts of a request head, each as a request with a long text in it. */
const HEAD_PLACES: Record<string, (text: string) => string> = {
  'a path': (text) => `GET /${text}`,
  'a path under a collection': (text) => `GET /api/users/${text}`,
  'a path under the console': (text) => `GET /console/${text}`,
  'a path under the tRPC endpoint': (text) => `GET /trpc/${text}`,
  'an id': (text) => `DELETE /items/1${text}`,
  'an absolute target': (text) => `GET http://a/${text}`,
  'a target without a path': (text) => `GET ${text}`,
  'a query': (text) => `GET /items?${text}`,
  'a query of an unknown path': (text) => `GET /a?${text}`,
  'a query of tRPC': (text) => `GET /trpc/items.list?${text}`,
  'an input of tRPC': (text) => `GET /trpc/items.list?input=${text}`,
  'a search': (text) => `GET /items?q=${text}`,
  'a filter': (text) => `GET /items?category=${text}`,
  'a bound': (text) => `GET /items?price_lt=1${text}`,
  'a time': (text) => `GET /api/users?created_at_gte=2026-01-01T00:00:00.0${text}`,
  'a cursor': (text) => `GET /items?after=${text}`,
  'an order': (text) => `GET /items?sort=${text}`,
}

const HEADERS = [
  'Accept Accept-Encoding Accept-Language Access-Control-Request-Headers Access-Control-Request-Method Authorization',
  'Baggage Connection Content-Encoding Content-Type Cookie Expect Forwarded Host Idempotency-Key If-Match',
  'If-Modified-Since If-None-Match If-Range Origin Prefer Range Referer Sec-Fetch-Site TE Traceparent Tracestate Trailer',
  'Trpc-Accept Upgrade User-Agent Via X-Forwarded-For X-Forwarded-Host X-Forwarded-Proto X-Real-IP X-Request-Id',
].flatMap((names) => names.split(' '))

function numbers(count: number): number[] {
  return [...Array(Math.trunc(count)).keys()]
}

/** The bodies, each with a long text in it or of it. */
const BODY_PLACES: Record<string, (text: string) => string> = {
  'a body': (text) => text,
  'the text of a field': (text) => JSON.stringify({ name: text, price: 1 }),
  'the name of a field': (text) => JSON.stringify({ name: 'a', price: 1, [text]: 1 }),
  'many fields': (text) => `{${numbers(text.length / 8).map((index) => `"${index}":1`)}}`,
  'one field many times': (text) => `{${numbers(text.length / 9).map(() => '"name":1')}}`,
  'a long array': (text) => `{"name":[${numbers(text.length / 2).map(() => '1')}]}`,
  'many empty rows': (text) => `[${numbers(text.length / 3).map(() => '{}')}]`,
  'nested arrays': ({ length }) => `${'['.repeat(length / 2)}${']'.repeat(length / 2)}`,
  'nested arrays, unclosed': ({ length }) => '['.repeat(length),
  'nested objects': ({ length }) => `${'{"a":'.repeat(length / 6)}1${'}'.repeat(length / 6)}`,
  'nested arrays in a field': ({ length }) => `{"name":${'['.repeat(length / 2)}${']'.repeat(length / 2)}}`,
  'a long number': ({ length }) => `{"price":1${'0'.repeat(length)}}`,
}
const BODY_LINES = ['POST /items', 'PATCH /items/bulk', 'POST /trpc/items.create', 'POST /trpc/items.create?batch=1']
// These need no text of their own.
const SHAPES = new Set(Object.keys(BODY_PLACES).slice(3))

/** The CPU time of a request in this process, which has both ends of the connection: the minimum of several attempts, in ms. */
async function requestMs(url: string, bytes: Buffer, limit: number, attempts: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < attempts && least > limit; attempt++) {
    const begin = process.cpuUsage()
    await exchangeBytes(url, bytes)
    const { user, system } = process.cpuUsage(begin)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

/** The first piece that makes a request too slow at its full length, or more than twice as slow at twice its length. */
async function slowPiece(
  url: string,
  lengths: number[],
  requestOf: (text: string) => string,
  pieces = PIECES,
): Promise<string | undefined> {
  for (const piece of pieces) {
    let slow: string | undefined
    // On a busy machine a time can be too long by chance, but not again and again.
    for (const attempts of [ATTEMPTS, 4 * ATTEMPTS, 16 * ATTEMPTS]) {
      slow = await growth(
        url,
        lengths,
        (length) => requestOf(piece.repeat(length / Buffer.byteLength(piece))),
        attempts,
      )
      if (slow === undefined) break
    }
    if (slow !== undefined) return `${JSON.stringify(piece)}: ${slow}`
  }
  return undefined
}

/** The times of requests with a text of these lengths, if one is too long or more than twice that of half the length. */
async function growth(url: string, lengths: number[], requestOf: (length: number) => string, attempts: number) {
  const timeAt = (length: number, limit: number) => requestMs(url, Buffer.from(requestOf(length)), limit, attempts)
  if ((await timeAt(lengths.at(-1) as number, MEASURABLE_MS)) <= MEASURABLE_MS) return undefined
  const times: number[] = []
  for (const length of lengths) times.push(await timeAt(length, 0))
  const grows = times.some((ms, index) => ms > MEASURABLE_MS && ms > MAX_GROWTH * (times[index - 1] ?? ms))
  return grows || Math.max(...times) > MAX_REQUEST_MS ? `${times.join(', ')} ms` : undefined
}

function headOf(line: string, header = ''): string {
  return `${line} HTTP/1.1\r\n${/^host:/i.test(header) ? '' : 'Host: 127.0.0.1\r\n'}${header}${header && '\r\n'}\r\n`
}

describe('The CPU time of a request grows at most linearly with its length', () => {
  const server = shareTestServer()
  const limited = shareTestServer(undefined, { RATE_LIMIT: '1' })

  test.each(Object.entries(HEAD_PLACES))('for %s', async (_, place) => {
    const requestOf = (text: string) => headOf(place(text))
    expect(await slowPiece(server().url, HEAD_LENGTHS, requestOf)).toBeUndefined()
    expect(await slowPiece(limited().url, HEAD_LENGTHS, requestOf), 'refused with 429').toBeUndefined()
  })

  test.each(HEADERS)('for the header %s', async (name) => {
    for (const line of ['GET /items/1', 'DELETE /items/1']) {
      const requestOf = (text: string) => headOf(line, `${name}: ${text.trim()}`)
      expect(await slowPiece(server().url, HEAD_LENGTHS, requestOf), line).toBeUndefined()
    }
  })

  test('for many headers', async () => {
    const requestOf = (text: string) => headOf('GET /items', 'Accept: a/b\r\n'.repeat(text.length / 13).trim())
    expect(await slowPiece(server().url, HEAD_LENGTHS, requestOf, ['a'])).toBeUndefined()
  })

  test.each(Object.entries(BODY_PLACES))('for %s, over REST and tRPC', async (name, place) => {
    for (const line of BODY_LINES) {
      const requestOf = (text: string) => {
        const body = place(text)
        return `${headOf(line, `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`)}${body}`
      }
      const pieces = SHAPES.has(name) ? ['a'] : PIECES
      expect(await slowPiece(server().url, BODY_LENGTHS, requestOf, pieces), line).toBeUndefined()
    }
  })
})
