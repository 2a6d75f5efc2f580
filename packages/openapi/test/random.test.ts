import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { entityTags } from '../src/conditions.ts'
import { queryParameters } from '../src/target.ts'
import { startSky } from './serve.ts'

const sky = await startSky()
afterAll(() => sky[Symbol.asyncDispose]())

const runs = { numRuns: 150, seed: 1781, interruptAfterTimeLimit: 5000 }

const ERROR_KEYS = [['fault'], ['detail', 'fields'], ['oops'], ['alas'], ['code', 'details', 'message', 'ok']].map(
  String,
)

/** Checks that the response is a success or has an error form, and is not a 500. */
async function expectValidResponse(method: string, path: string, sent = {}) {
  const { status, body } = await sky.request(method, path, sent)
  expect(status).toBeLessThan(500)
  if (status < 400 || method === 'HEAD') return
  expect(ERROR_KEYS).toContain(String(Object.keys(body).sort()))
}

// A request line contains only visible ASCII characters.
const piece = fc.oneof(
  fc.constantFrom(
    '/',
    '//',
    '%2F',
    '%',
    '%zz',
    '%25',
    '%00',
    '?',
    '&',
    '=',
    '+',
    '..',
    '.',
    ';',
    ',',
    '-0',
    '1e9',
    '#',
    '*',
    ':',
    '{id}',
  ),
  fc.constantFrom(
    'planets',
    'moons',
    'probes',
    'worlds',
    'bulk',
    '6',
    'envelope=true',
    'limit=1',
    '__proto__',
    'constructor',
  ),
  fc.stringMatching(/^[\x21-\x7e]{0,6}$/),
)
const pieces = fc.array(piece, { maxLength: 8 }).map((parts) => parts.join(''))

test('any path and query string gets a valid response', async () => {
  const method = fc.constantFrom('GET', 'HEAD', 'DELETE', 'PATCH')
  await fc.assert(
    fc.asyncProperty(method, pieces, (method, path) => expectValidResponse(method, `/${path}`)),
    runs,
  )
})

test('any query string of a list gets a valid response', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, (query) => expectValidResponse('GET', `/planets?${query}`)),
    runs,
  )
})

test('any JSON body gets a valid response', async () => {
  const key = fc.constantFrom('count', 'on', 'label', 'parts', 'tree', 'deep', 'size', '__proto__', 'constructor', 'x')
  const body = fc.oneof(fc.jsonValue(), fc.dictionary(key, fc.jsonValue({ maxDepth: 3 })))
  await fc.assert(
    fc.asyncProperty(body, async (json) => {
      const sent = { raw: JSON.stringify(json), headers: { 'Content-Type': 'application/json' } }
      const { status, body } = await sky.request('POST', '/probes', sent)
      expect(status === 200 ? ['seen'] : ['detail', 'fields']).toEqual(Object.keys(body))
      expect([200, 400]).toContain(status)
    }),
    runs,
  )
})

test('any bytes as a body get a valid response', async () => {
  const headers = { 'Content-Type': 'application/json' }
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), (bytes) =>
      expectValidResponse('POST', '/probes', { raw: Buffer.from(bytes), headers }),
    ),
    runs,
  )
})

test('any header value gets a valid response', async () => {
  const value = fc.stringMatching(/^[\x20-\x7e\x80-\xff]{0,20}$/)
  const name = fc.constantFrom('Accept', 'If-None-Match', 'If-Match', 'Content-Type', 'Idempotency-Key')
  await fc.assert(
    fc.asyncProperty(name, value, async (name, value) => {
      await expectValidResponse('GET', '/planets/6', { headers: { [name]: value } })
      await expectValidResponse('PUT', '/planets/6', {
        raw: '{"name":"A","radius":1}',
        headers: { 'Content-Type': 'application/json', [name]: value },
      })
    }),
    runs,
  )
})

test('a well-formed query string is parsed as by URLSearchParams', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 8 })
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(text, text), { selector: ([name]) => name, maxLength: 6 }), (pairs) => {
      const query = new URLSearchParams(pairs).toString()
      expect([...queryParameters(query)]).toEqual([...new URLSearchParams(query)])
    }),
    runs,
  )
})

test('what JSON reads as a number is a number, and other text is not', async () => {
  const text = fc.oneof(
    fc.double({ noNaN: true }).map(String),
    fc.integer().map(String),
    fc.stringMatching(/^-?0{0,3}\d{1,20}(\.\d{1,5})?$/),
    fc.stringMatching(/^[-+ 0-9.eEx_]{1,6}$/),
  )
  const isNumber = (text: string) => {
    try {
      return text.trim() === text && Number.isFinite(JSON.parse(text))
    } catch {
      return false
    }
  }
  await fc.assert(
    fc.asyncProperty(text, async (text) => {
      const { status, body } = await sky.request('GET', `/probes/${encodeURIComponent(text)}`)
      if (isNumber(text)) expect(body).toEqual({ seen: { count: JSON.parse(JSON.stringify(Number(text))) } })
      else expect([status, body.detail]).toEqual([400, 'count: must be a number'])
    }),
    runs,
  )
})

test('entity tags are parsed as they were written', () => {
  const tag = fc.record({ weak: fc.boolean(), tag: fc.stringMatching(/^[\x21\x23-\x7e\x80-\xff]{0,12}$/) })
  const separator = fc.constantFrom(',', ', ', ' , ', ',,', ' ,\t, ')
  fc.assert(
    fc.property(fc.array(tag, { minLength: 1, maxLength: 8 }), separator, (tags, separator) => {
      const header = tags.map(({ weak, tag }) => `${weak ? 'W/' : ''}"${tag}"`).join(separator)
      expect(entityTags(header)).toEqual(tags)
    }),
    runs,
  )
})
