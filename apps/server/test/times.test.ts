import { describe, expect, test } from 'vitest'
import { startTestServer } from './harness.ts'

const INSTANT = '2031-01-01T00:00:00.000Z'

const SAME_INSTANT = [
  '2031-01-01T00:00:00Z',
  '2031-01-01T00:00:00+00:00',
  '2031-01-01T00:00:00-00:00',
  '2030-12-31T17:00:00-07:00',
  '2031-01-01T05:45:00.000+05:45',
  '2031-01-01T23:59:00+23:59',
  '2031-01-01t00:00:00z',
  '2031-01-01t01:00:00.0+01:00',
  `2031-01-01T00:00:00.${'0'.repeat(300)}1Z`,
  // A leap second counts as the second after it.
  '2030-12-31T23:59:60Z',
  '2031-01-01T01:59:60+02:00',
]

const NO_TIMES = [
  '2031-01-01',
  '2031-01-01T00:00:00',
  '2031-01-01 00:00:00Z',
  '2031-01-01T00:00Z',
  '2031-01-01T00:00:00.Z',
  '2031-01-01T00:00:00,5Z',
  '2031-01-01T00:00:00+0000',
  '2031-01-01T00:00:00+24:00',
  '2031-01-01T00:00:00+01:60',
  '2031-01-01T24:00:00Z',
  '2031-01-01T12:30:60Z',
  '2031-01-01T23:59:60+01:00',
  '2031-02-29T00:00:00Z',
  '20310101T000000Z',
  '+002031-01-01T00:00:00Z',
  ' 2031-01-01T00:00:00Z',
  '0000-12-31T23:59:59Z',
  '0001-01-01T00:00:00+00:01',
  '9999-12-31T23:59:59-00:01',
  '9999-12-31T23:59:60Z',
]

describe('C11 a time in a request', () => {
  test('has any offset of RFC 3339, and the answer has it in UTC', async () => {
    await using server = await startTestServer()
    const admin = await server.client.keys.create.mutate({ name: 'admin', role: 'admin' })
    server.logIn(admin.key)
    for (const expires_at of SAME_INSTANT) {
      const json = { name: 'key', role: 'reader', expires_at }
      const { status, body } = await server.request('POST', '/api/keys', { json })
      expect([expires_at, status, body.expires_at]).toEqual([expires_at, 201, INSTANT])
      expect((await server.request('GET', `/api/keys/${body.id}`)).body.expires_at).toBe(INSTANT)
      const called = await server.client.keys.create.mutate({ name: 'key', role: 'reader', expires_at })
      expect([expires_at, called.expires_at]).toEqual([expires_at, INSTANT])
    }
    const json = { name: 'key', role: 'reader', expires_at: '2031-01-01T00:00:00.123999+00:00' }
    const { body } = await server.request('POST', '/api/keys', { json })
    expect(body.expires_at).toBe('2031-01-01T00:00:00.123Z')
  })

  test('in another form, or in a year before 1 or after 9999, is a 400', async () => {
    await using server = await startTestServer()
    const rule = 'must be an RFC 3339 time such as 2027-01-31T00:00:00Z'
    for (const text of NO_TIMES) {
      const json = { name: 'key', role: 'reader', expires_at: text }
      const created = await server.request('POST', '/api/keys', { json })
      expect([text, created.status, created.body.error.message]).toEqual([text, 400, `expires_at: ${rule}`])
      const listed = await server.request('GET', `/users?created_at_gte=${encodeURIComponent(text)}`)
      expect([text, listed.status, listed.body.error]).toEqual([text, 400, `created_at_gte: ${rule}`])
    }
  })
})

describe('C17 a bound of times', () => {
  test('selects the same records with any offset', async () => {
    await using server = await startTestServer()
    await server.request('POST', '/users', { json: { name: 'Ada', email: 'ada@example.com' } })
    for (const bound of SAME_INSTANT) {
      const before = await server.request('GET', `/users?created_at_lt=${encodeURIComponent(bound)}`)
      const since = await server.request('GET', `/api/users?created_at_gte=${encodeURIComponent(bound)}`)
      expect([bound, before.body.length, since.body.length]).toEqual([bound, 1, 0])
    }
  })

  test('is exact with more digits than milliseconds', async () => {
    await using server = await startTestServer()
    const { body } = await server.request('POST', '/users', { json: { name: 'Ada', email: 'ada@example.com' } })
    const millisecond = body.created_at.slice(0, -1)
    const audited = (await server.request('GET', '/api/audit')).body[0].at.slice(0, -1)
    for (const [digits, isLater] of [
      ['', false],
      ['000', false],
      ['001', true],
      ['000000001', true],
      ['999999', true],
    ] as const) {
      const since = await server.request('GET', `/users?created_at_gte=${millisecond}${digits}Z`)
      const before = await server.request('GET', `/users?created_at_lt=${millisecond}${digits}Z`)
      const entriesSince = await server.request('GET', `/api/audit?at_gte=${audited}${digits}Z`)
      const entriesBefore = await server.request('GET', `/api/audit?at_lt=${audited}${digits}Z`)
      const found = [since, before, entriesSince, entriesBefore].map((answer) => answer.body.length)
      expect([digits, found]).toEqual([digits, isLater ? [0, 1, 0, 1] : [1, 0, 1, 0]])
    }
  })
})

test('B9 a date begins with the year 1, in records and in bounds', async () => {
  await using server = await startTestServer()
  const rule = 'published_date: must be a calendar date, YYYY-MM-DD, from year 0001'
  for (const date of ['0000-01-01', '0000-12-31']) {
    const book = { title: 'Dune', author: 'Frank Herbert', published_date: date }
    expect((await server.request('POST', '/books', { json: book })).body).toEqual({ message: rule })
    expect((await server.request('GET', `/books?published_date_gte=${date}`)).status).toBe(400)
  }
  const json = { title: 'Dune', author: 'Frank Herbert', published_date: '0001-01-01' }
  expect((await server.request('POST', '/books', { json })).status).toBe(201)
  expect((await server.request('GET', '/books?published_date_lte=0001-01-01')).body).toHaveLength(1)
})

test('C4 a number in a query has the syntax of JSON', async () => {
  await using server = await startTestServer()
  await server.request('POST', '/items', { json: { name: 'Lamp', price: 24.5 } })
  for (const bound of ['24.6', '2.46e1', '2.46E1', '2.46e+1', '1.0E7', '246e-1', '1e+21', '1.7976931348623157E308']) {
    const { status, body } = await server.request('GET', `/items?price_lt=${encodeURIComponent(bound)}`)
    expect([bound, status, body.length]).toEqual([bound, 200, 1])
  }
  for (const bound of ['1e-05', '1E-7', '-0', '-0.0', '0e0', '5e-324', '24.5', '-1e+21', '0']) {
    const { status, body } = await server.request('GET', `/items?price_lt=${encodeURIComponent(bound)}`)
    expect([bound, status, body.length]).toEqual([bound, 200, 0])
  }
  for (const text of [
    '01',
    '-01',
    '.5',
    '5.',
    '1e',
    '1e+',
    '+1',
    '0x1',
    '1_0',
    'Infinity',
    'NaN',
    '1e400',
    '--1',
    '1 ',
  ]) {
    const { status, body } = await server.request('GET', `/items?price_lt=${encodeURIComponent(text)}`)
    expect([text, status, body.message]).toEqual([text, 400, 'price_lt: must be a number'])
  }
  for (const path of ['/items?page=1e0', '/items?limit=1e1', '/items?page=1.0', '/users?age=3e1', '/items/1e0']) {
    expect([path, (await server.request('GET', path)).status]).toEqual([path, 400])
  }
})
