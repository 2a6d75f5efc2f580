import { contract } from '@resource/contract'
import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { createDocument } from '../src/document.ts'
import { startTestServer } from './harness.ts'

const LENGTH = 32_000
// Linear work on such a text takes a few milliseconds, quadratic work half a second or more.
const MAX_MS = 100
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

const attacks: string[] = REPEATED.flatMap((text) => {
  const middle = text.repeat(LENGTH / text.length)
  return STARTS.flatMap((start) => ENDS.map((end) => start + middle + end))
})

/** The minimum CPU time of several attempts, in ms: other load and garbage collection only add to it. */
function minimumMs(work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < ATTEMPTS && least > MAX_MS; attempt++) {
    const begin = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(begin)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

/** The first text on which the work takes longer than linear work would, and its time. */
function superlinear(work: (text: string) => unknown): string | undefined {
  for (const attack of attacks) {
    const ms = minimumMs(() => work(attack))
    if (ms > MAX_MS) return `${attack.slice(0, 30)}…${attack.slice(-3)}: ${ms} ms`
  }
  return undefined
}

/** The input schema of each procedure. */
const inputs = Object.entries(contract).flatMap(([noun, { procedures }]) =>
  Object.entries(procedures).map(([verb, { input }]) => ({ name: `${noun}.${verb}`, input: input as z.ZodType })),
)

function fieldsOf(schema: z.ZodType): string[] {
  return Object.keys((schema as unknown as { shape: object }).shape)
}

describe('ReDoS: work grows at most linearly with the input', () => {
  test('the limit finds quadratic work', () => {
    expect(superlinear((text) => /\s+$/.test(text))).toMatch(/ ms$/)
  })

  test.each(inputs)('$name', ({ input }) => {
    const fields = fieldsOf(input)
    const work = (text: string) => {
      const record = Object.fromEntries(
        ['name', 'title', 'author', 'email', 'password', 'category', 'published_date', 'role'].map((name) => [
          name,
          text,
        ]),
      )
      const many = [record]
      return input.safeParse({
        ...Object.fromEntries(fields.map((name) => [name, text])),
        users: many,
        items: many,
        books: many,
      })
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

  test('for headers, paths and queries of the maximum length, answered within 0.1 s', async () => {
    await using server = await startTestServer()
    const slow: string[] = []
    const length = 15_000
    const names = [
      'If-Match',
      'If-None-Match',
      'Accept',
      'Accept-Encoding',
      'Content-Type',
      'X-Request-Id',
      'Idempotency-Key',
    ]
    const more = ['Authorization', 'Cookie', 'Origin', 'X-Forwarded-For', 'Content-Encoding']
    const visible = REPEATED.filter((text) => /^[\x20-\x7e]+$/.test(text))
    for (const text of visible) {
      const value = `${text.repeat(length / text.length)}!`.trim()
      const requests: [string, RequestInit][] = [...names, ...more].map((name) => [
        `${server.url}/items/1`,
        { headers: { [name]: value }, ...(name === 'If-Match' && { method: 'DELETE' }) },
      ])
      requests.push([`${server.url}/items/${encodeURI(value.slice(0, 4000))}`, {}])
      requests.push([`${server.url}/items?after=${encodeURIComponent(value.slice(0, 4000))}`, {}])
      requests.push([`${server.url}/${encodeURI(value.slice(0, 4000))}`, {}])
      for (const [url, init] of requests) {
        let least = Number.POSITIVE_INFINITY
        for (let attempt = 0; attempt < ATTEMPTS && least > 100; attempt++) {
          const begin = performance.now()
          await (await fetch(url, init)).bytes()
          least = performance.now() - begin
        }
        if (least > 100) slow.push(`${JSON.stringify(init)} ${url}: ${least} ms`.slice(0, 200))
      }
    }
    expect(slow).toEqual([])
  })
})
