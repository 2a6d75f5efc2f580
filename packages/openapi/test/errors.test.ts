import { afterAll, describe, expect, test } from 'vitest'
import { FieldError } from '../src/field-error.ts'
import { startSky } from './serve.ts'
import { INNER_SECRET } from './sky.ts'
import { serve } from './small.ts'

const sky = await startSky()
afterAll(() => sky[Symbol.asyncDispose]())

describe('the form of an error is that of the binding at its path,', () => {
  test('even if another resource shares the prefix', async () => {
    expect((await sky.request('GET', '/planets/x')).body).toEqual({ fault: 'id: must be a whole number from 1 to 999' })
    expect((await sky.request('GET', '/planets/x/moons')).body).toEqual({
      detail: 'planet_id: must be a whole number from 1 to 999',
      fields: ['planet_id'],
    })
    expect((await sky.request('DELETE', '/planets/6/moons')).body.detail).toContain('DELETE is not allowed here')
    expect((await sky.request('GET', '/worlds/x')).body).toEqual({
      fault: 'world_id: must be a whole number from 1 to 999',
    })
    expect((await sky.request('GET', '/?a=1')).body).toEqual({
      alas: 'a is not a query parameter of this operation; it takes: envelope',
    })
  })

  test('even if the path is percent-encoded', async () => {
    expect((await sky.request('GET', '/pl%61nets/7')).body).toEqual({ fault: 'Planet not found' })
    expect((await sky.request('GET', '/planets/%zz')).body).toEqual({ fault: 'Malformed percent-escape in the path' })
  })

  test('or that of the resource with the same path prefix', async () => {
    const nothing = 'Path not found'
    expect((await sky.request('GET', '/planets/6/rings')).body).toEqual({ fault: nothing })
    expect((await sky.request('GET', '/moons//')).body).toEqual({ detail: nothing, fields: [] })
    expect((await sky.request('GET', '/planetsimals')).body).toMatchObject({ ok: false, message: nothing })
  })

  test('or the envelope for an unknown path or with envelope=true', async () => {
    const { status, body } = await sky.request('GET', '/comets/1?x=secret')
    expect([status, body]).toEqual([
      404,
      {
        ok: false,
        code: 404,
        message: 'Path not found',
        details: 'GET /comets/1',
      },
    ])
    expect((await sky.request('GET', '/planets/99?envelop%65=tru%65')).body).toMatchObject({ ok: false, code: 404 })
    expect((await sky.request('GET', '/moons/a?b=c?envelope=true')).body.fields).toEqual(['b'])
    expect((await sky.request('GET', `/${'c'.repeat(5000)}`)).body.details).toBe(`GET /${'c'.repeat(199)}…`)
  })
})

test('an error names all invalid fields, missing ones first', async () => {
  const { body } = await sky.request('POST', '/planets', { json: { kind: 'cheese', ringed: 1 } })
  expect(body).toEqual({
    fault:
      'Missing required fields: name, radius; kind: must be rock, gas or ice; ringed: must be true or false, not a number',
  })
})

test('an error about hundreds of invalid fields names the first twenty', async () => {
  const parts = Array.from({ length: 300 }, () => ({ size: 'x' }))
  const named = Array.from({ length: 20 }, (_, index) => `parts[${index}].size: must be a whole number, not text`).join(
    '; ',
  )
  const plain = await sky.request('POST', '/probes', { json: { parts } })
  expect(plain.body.detail).toBe(`${named}; and 280 more`)
  const wrapped = await sky.request('POST', '/probes?envelope=true', { json: { parts } })
  expect(wrapped.body.details).toBe(`${named.replaceAll(':', '')}; and 280 more`)
})

test('an invalid percent-escape that another handler of the framework finds is a 400', async () => {
  const { request } = await serve({}, {}, {}, { before: [() => void decodeURIComponent('%zz')] })
  const { status, body } = await request('GET', '/pages')
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('Malformed percent-escape in the path')])
})

describe('an error never contains values that were sent', () => {
  const SECRET = 'hunter2-hunter2'

  test('in a body with invalid values', async () => {
    const bodies = [
      { count: SECRET },
      { on: SECRET },
      { label: `${SECRET}${SECRET}` },
      { parts: SECRET },
      { parts: [SECRET] },
      { parts: [{ size: SECRET }] },
      { tree: SECRET },
      { label: [SECRET], count: { [SECRET]: SECRET } },
      [SECRET],
      SECRET,
    ]
    for (const json of bodies) {
      const { status, text } = await sky.request('POST', '/probes', { json })
      expect([status, text.includes('hunter')]).toEqual([400, false])
    }
    const planets = [{ name: 'A', radius: 1, kind: SECRET }, SECRET, { name: [SECRET], radius: SECRET, ringed: SECRET }]
    const { status, text } = await sky.request('POST', '/planets/bulk', { json: planets })
    expect([status, text.includes('hunter')]).toEqual([400, false])
  })

  test('in malformed JSON', async () => {
    const headers = { 'Content-Type': 'application/json' }
    for (const raw of [
      SECRET,
      `"${SECRET}`,
      `{"label":"${SECRET}"`,
      `{"label":"${SECRET}",}`,
      `{"label":${SECRET}}`,
      `{"${SECRET}"}`,
      `{"label":"a"}${SECRET}`,
      `{"label":'${SECRET}'}`,
      `{"label":"${SECRET}\n"}`,
      `{"label":"\\x${SECRET}"}`,
      Buffer.from(`{"label":"${SECRET}\xff"}`, 'latin1'),
    ]) {
      const { status, text } = await sky.request('POST', '/probes', { raw, headers })
      expect([status, text.includes('hunter')]).toEqual([400, false])
    }
    const pin = await sky.request('POST', '/probes', { raw: '{"pin": position 4711}', headers })
    expect(pin.body.detail).toBe('Body is not valid JSON (at position 8)')
  })

  test('in a body with another media type', async () => {
    const { text } = await sky.request('POST', '/probes', { raw: SECRET, headers: { 'Content-Type': 'text/plain' } })
    expect(text).not.toContain('hunter')
  })

  test('in a path, a query string or a header', async () => {
    const texts = await Promise.all([
      sky.request('GET', `/probes/${SECRET}`),
      sky.request('GET', `/probes/1?ratio=${SECRET}`),
      sky.request('GET', `/probes/1?on=${SECRET}&envelope=true`),
      sky.request('GET', `/probes/1?label=${SECRET}&label=${SECRET}`),
      sky.request('GET', `/probes/1?wrong=${SECRET}`),
      sky.request('GET', `/probes/1?label=%zz${SECRET}`),
      sky.request('GET', `/planets?kind=${SECRET}`),
      sky.request('GET', '/probes/1', { headers: { 'X-Depth': SECRET } }),
      sky.request('GET', `/planets/6?envelope=${SECRET}`),
      sky.request('GET', '/planets/6', { headers: { Accept: `text/${SECRET}` } }),
      sky.request('PUT', '/planets/6', { json: { name: 'A', radius: 1 }, headers: { 'If-Match': SECRET } }),
    ])
    for (const { status, text } of texts) expect([status >= 400, text.includes('hunter')]).toEqual([true, false])
  })
})

describe('an unexpected error', () => {
  test('is a 500 with only the request id', async () => {
    for (const how of ['error', 'text', 'problem', 'output', 'bigint', 'header']) {
      const { status, body } = await sky.request('GET', `/failures/${how}`)
      expect([how, status, body]).toEqual([how, 500, { oops: 'Internal server error (request request-1)' }])
    }
    const wrapped = await sky.request('GET', '/failures/error?envelope=true')
    expect(wrapped.body).toEqual({
      ok: false,
      code: 500,
      message: 'Internal server error (request request-1)',
      details: 'GET /failures/error',
    })
  })

  test('includes an output that does not match its binding', async () => {
    const { status, text } = await sky.request('PUT', '/failures/fine', { json: {} })
    expect([status, text]).toEqual([500, '{"oops":"Internal server error (request request-1)"}'])
  })

  test('is passed to onError with its cause', async () => {
    await using other = await startSky()
    await other.request('GET', '/failures/error')
    await other.request('GET', '/failures/problem')
    expect(other.errors.map(({ status, cause }) => [status, (cause as Error).message])).toEqual([
      [500, INNER_SECRET],
      [500, INNER_SECRET],
    ])
  })

  test('has no headers of the response it replaces', async () => {
    for (const how of ['output', 'bigint', 'header']) {
      const { headers } = await sky.request('GET', `/failures/${how}`)
      expect([how, headers.etag, headers['x-first'], headers['x-text']]).toEqual([how, undefined, undefined, undefined])
    }
  })
})

describe('an ApiError', () => {
  test('sets status, message and headers of the response', async () => {
    const { status, headers, body } = await sky.request('GET', '/failures/busy')
    expect([status, headers['retry-after'], body]).toEqual([503, '7', { oops: 'Busy' }])
  })

  test('can replace an error of a lower layer', async () => {
    const { status, headers, text } = await sky.request('GET', '/failures/known')
    expect([status, headers['retry-after'], text]).toEqual([503, '7', '{"oops":"Busy"}'])
  })
})

describe('an error of another handler', () => {
  test('has the same form', async () => {
    const { status, body } = await sky.request('GET', '/broken')
    expect([status, body]).toEqual([
      500,
      { ok: false, code: 500, message: 'Internal server error (request request-1)', details: 'GET /broken' },
    ])
  })

  test('has no headers of the body that was not sent', async () => {
    const { headers, text } = await sky.request('GET', '/broken')
    expect([headers['content-encoding'], headers.etag]).toEqual([undefined, undefined])
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    expect(headers['content-length']).toBe(String(text.length))
  })

  test('after the response has begun closes the connection', async () => {
    const answer = await sky.exchange('GET /half HTTP/1.1\r\nHost: sky\r\n\r\n').catch(() => 'reset')
    expect(answer).not.toContain('in the middle')
    expect(answer).not.toContain('\r\n0\r\n')
    expect((await sky.request('GET', '/planets/6')).status).toBe(200)
  })
})

test('an error without a field has a message', () => {
  expect(new FieldError(409, []).message).toBe('The request is refused')
})
