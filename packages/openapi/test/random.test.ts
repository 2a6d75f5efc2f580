import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { entityTags, queryParameters } from '../src/request.ts'
import { startSky } from './serve.ts'

const sky = await startSky()
afterAll(() => sky[Symbol.asyncDispose]())

const runs = { numRuns: 150, seed: 1781, interruptAfterTimeLimit: 5000 }

const ERROR_KEYS = [['fault'], ['detail', 'fields'], ['oops'], ['alas'], ['code', 'details', 'message', 'ok']].map(
  String,
)

/** Every answer is a success or one of the error forms, and none is a 500. */
async function isWellAnswered(method: string, path: string, sent = {}) {
  const { status, body } = await sky.request(method, path, sent)
  expect(status).toBeLessThan(500)
  if (status < 400 || method === 'HEAD') return
  expect(ERROR_KEYS).toContain(String(Object.keys(body).sort()))
}

// What a request line may carry: visible ASCII.
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

test('any path and query string is answered', async () => {
  const method = fc.constantFrom('GET', 'HEAD', 'DELETE', 'PATCH')
  await fc.assert(
    fc.asyncProperty(method, pieces, (method, path) => isWellAnswered(method, `/${path}`)),
    runs,
  )
})

test('any query string of a list is answered', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, (query) => isWellAnswered('GET', `/planets?${query}`)),
    runs,
  )
})

test('any JSON body is answered', async () => {
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

test('any bytes as a body are answered', async () => {
  const headers = { 'Content-Type': 'application/json' }
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), (bytes) =>
      isWellAnswered('POST', '/probes', { raw: Buffer.from(bytes), headers }),
    ),
    runs,
  )
})

test('any header value is answered', async () => {
  const value = fc.stringMatching(/^[\x20-\x7e\x80-\xff]{0,20}$/)
  const name = fc.constantFrom('Accept', 'If-None-Match', 'If-Match', 'Content-Type', 'Idempotency-Key')
  await fc.assert(
    fc.asyncProperty(name, value, async (name, value) => {
      await isWellAnswered('GET', '/planets/6', { headers: { [name]: value } })
      await isWellAnswered('PUT', '/planets/6', {
        raw: '{"name":"A","radius":1}',
        headers: { 'Content-Type': 'application/json', [name]: value },
      })
    }),
    runs,
  )
})

test('a well-formed query string means what URLSearchParams says', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 8 })
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(text, text), { selector: ([name]) => name, maxLength: 6 }), (pairs) => {
      const query = new URLSearchParams(pairs).toString()
      expect([...queryParameters(query)]).toEqual([...new URLSearchParams(query)])
    }),
    runs,
  )
})

test('a number is digits, perhaps with a sign and a fraction, and then what JavaScript reads', async () => {
  const text = fc.oneof(
    fc.double({ noNaN: true }).map(String),
    fc.integer().map(String),
    fc.stringMatching(/^-?0{0,3}\d{1,20}(\.\d{1,5})?$/),
    fc.stringMatching(/^[-+ 0-9.eEx_]{1,6}$/),
  )
  const isDigits = (text: string) => {
    const [whole = '', fraction = '0', ...more] = text.replace('-', '_').split('.')
    const digits = (part: string) => part !== '' && [...part].every((digit) => '0123456789'.includes(digit))
    return more.length === 0 && digits(whole.startsWith('_') ? whole.slice(1) : whole) && digits(fraction)
  }
  await fc.assert(
    fc.asyncProperty(text, async (text) => {
      const { status, body } = await sky.request('GET', `/probes/${encodeURIComponent(text)}`)
      if (isDigits(text)) expect(body).toEqual({ seen: { count: JSON.parse(JSON.stringify(Number(text))) } })
      else expect([status, body.detail]).toEqual([400, 'count: must be a number'])
    }),
    runs,
  )
})

test('entity tags are read as they were written', () => {
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
