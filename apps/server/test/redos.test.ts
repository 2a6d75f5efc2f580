import { contract } from '@resource/contract'
import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { createDocument } from '../src/document.ts'
import { startTestServer } from './harness.ts'

const SHORT = 8_000
const TIMES_LONGER = 4
// Linear work takes four times as long, quadratic work sixteen times.
const MOST_GROWTH = 9
// Below this a growth says nothing.
const WORTH_MS = 3
const ATTEMPTS = 25

/** What makes matchers go back: repeats of each that matches, of two that match alike, and an end that does not match. */
const REPEATED = [
  ...['a', '0', '-', '.', '@', '!', '_', ' ', '\t', '"', ',', 'W/"1-a",', '""', 'a.', 'a-', 'a@', 'a@a.', 'a0', '-a-'],
  ...['é', '\u{1f600}', '\ud800', '0.', '2026-01-01T00:00:00.000', '00:', '1-', 'a a', '%2e', '(', '[', '\\'],
]
const STARTS = ['', 'a@', 'a@a.', 'a', '"', '2026-01-01T00:00:00.', '-']
const ENDS = ['', '!', '@', '\0', '"', '.', 'a', 'Z', ' ']

function attacks(length: number): string[] {
  return REPEATED.flatMap((text) => {
    const middle = text.repeat(length / text.length)
    return STARTS.flatMap((start) => ENDS.map((end) => start + middle + end))
  })
}

/** The least CPU time of some attempts, in ms: whatever else the machine does, or the collector, only adds. */
function least(work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < ATTEMPTS && least > WORTH_MS; attempt++) {
    const begin = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(begin)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

/** Attacks on which work grows faster than they do. */
function superlinear(work: (text: string) => unknown): string[] {
  const short = attacks(SHORT)
  return attacks(SHORT * TIMES_LONGER).flatMap((attack, index) => {
    const long = least(() => work(attack))
    if (long <= WORTH_MS) return []
    const growth =
      long /
      Math.max(
        least(() => work(short[index] as string)),
        0.001,
      )
    return growth > MOST_GROWTH ? [`${attack.slice(0, 30)}…${attack.slice(-3)}: ${long} ms, ${growth} times`] : []
  })
}

/** Input schemas, and the names of their fields, arrays and records of bulk creates included. */
const inputs = Object.entries(contract).flatMap(([noun, { procedures }]) =>
  Object.entries(procedures).map(([verb, { input }]) => ({ name: `${noun}.${verb}`, input: input as z.ZodType })),
)

function fieldsOf(schema: z.ZodType): string[] {
  return Object.keys((schema as unknown as { shape: object }).shape)
}

describe('ReDoS: no validator’s work grows faster than what it is given', () => {
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
    expect(superlinear(work)).toEqual([])
  })

  test('every pattern of the document', () => {
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
      expect(superlinear((text) => expression.test(text))).toEqual([])
    }
  })

  test('headers, paths and queries of the most that a request may have, answered before a tenth of a second', async () => {
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
      const asked: [string, RequestInit][] = [...names, ...more].map((name) => [
        `${server.url}/items/1`,
        { headers: { [name]: value }, ...(name === 'If-Match' && { method: 'DELETE' }) },
      ])
      asked.push([`${server.url}/items/${encodeURI(value.slice(0, 4000))}`, {}])
      asked.push([`${server.url}/items?after=${encodeURIComponent(value.slice(0, 4000))}`, {}])
      asked.push([`${server.url}/${encodeURI(value.slice(0, 4000))}`, {}])
      for (const [url, init] of asked) {
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
