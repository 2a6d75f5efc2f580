import { afterAll, describe, expect, test } from 'vitest'
import { ApiError } from '../src/api-error.ts'
import { startSky } from './serve.ts'

const sky = await startSky()
afterAll(() => sky[Symbol.asyncDispose]())

const planet = { name: 'Vulcan', radius: 1 }

test('a success is JSON with a Content-Length', async () => {
  const { headers, text } = await sky.request('GET', '/moons/%C3%A9')
  expect(text).toBe('{"name":"é"}')
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(headers['content-length']).toBe('13')
  expect(headers['transfer-encoding']).toBe(undefined)
})

test('a response contains only the fields that its binding projects', async () => {
  const { body, text } = await sky.request('GET', '/planets?limit=1')
  expect(body).toEqual([{ id: 2, name: 'Venus', kind: 'rock', radius: 6051.8, ringed: false }])
  expect(text).not.toContain('version')
})

test('a binding computes headers from input and output', async () => {
  const { headers } = await sky.request('GET', '/planets?kind=ice')
  expect([headers['x-total'], headers['x-limit']]).toEqual(['0', 'none sent'])
  const limited = await sky.request('GET', '/planets?kind=ice&limit=5')
  expect(limited.headers['x-limit']).toBe('5')
  const created = await sky.request('POST', '/planets', { json: planet })
  expect(created.headers.location).toBe('/planets/9')
})

test('a header without a value is omitted', async () => {
  expect((await sky.request('GET', '/planets')).headers['x-limit']).toBe(undefined)
})

describe('Accept', () => {
  const statusFor = async (accept: string | string[]) =>
    (await sky.request('GET', '/planets/6', { headers: { Accept: accept } })).status

  test('that allows JSON gets a response', async () => {
    for (const accept of [
      'application/json',
      '*/*',
      'application/*',
      'APPLICATION/JSON',
      '',
      'text/html, */*;q=0.1',
      'text/html,application/json;q=0.001',
      'text/html;q=1, application/*;q=0.5',
      'application/json;charset=utf-8',
      'application/json; charset=UTF-8',
      'application/json;version=1',
      'Application/JSON;version=1',
      ['text/html', 'application/json'],
    ]) {
      expect([accept, await statusFor(accept)]).toEqual([accept, 200])
    }
  })

  test('that is absent allows anything', async () => {
    expect((await sky.request('GET', '/planets/6')).status).toBe(200)
  })

  test('that excludes JSON gets a 406', async () => {
    for (const accept of [
      'text/html',
      'application/json;q=0',
      'application/json;q=0, */*',
      '*/*;q=0',
      'application/xml, text/*',
      'json',
    ]) {
      expect([accept, await statusFor(accept)]).toEqual([accept, 406])
    }
    const { body } = await sky.request('GET', '/planets/6', { headers: { Accept: 'text/html' } })
    expect(body).toEqual({ fault: 'Accept must allow application/json, the media type of the responses' })
    expect(new ApiError(406, 'No').reason).toBe('not_acceptable')
  })

  test('is checked before the operation runs', async () => {
    const answer = await sky.request('DELETE', '/planets/7', { headers: { Accept: 'text/html' } })
    expect(answer.status).toBe(406)
  })
})

describe('the envelope', () => {
  test('contains the response under its key and the other output fields in meta', async () => {
    expect((await sky.request('GET', '/planets?limit=1&envelope=true')).body).toEqual({
      ok: true,
      data: { planets: [{ id: 2, name: 'Venus', kind: 'rock', radius: 6051.8, ringed: false }] },
      meta: { total: 2 },
    })
    expect((await sky.request('GET', '/planets/6/?envelope=true')).body).toEqual({
      ok: true,
      data: { planet: { name: 'Saturn' } },
      meta: {},
    })
  })

  test('contains the response as its data if the binding has no key', async () => {
    expect((await sky.request('GET', '/planets/6/moons?envelope=true')).body).toEqual({
      ok: true,
      data: ['Titan', 'Rhea'],
      meta: {},
    })
  })

  test('contains only output fields that the contract declares', async () => {
    const { text } = await sky.request('GET', '/planets?envelope=true')
    expect(text).not.toContain('inner')
  })

  test('does not change status and headers', async () => {
    const { status, headers, body } = await sky.request('POST', '/planets?envelope=true', { json: planet })
    expect([status, headers.location, body.data.planet.name]).toEqual([201, '/planets/9', 'Vulcan'])
  })

  test('turns an empty response into a 200 with a body', async () => {
    const { status, body } = await sky.request('DELETE', '/worlds/2?envelope=true')
    expect([status, body]).toEqual([200, { ok: true, data: {}, meta: {} }])
  })

  test('wraps all errors, including those of malformed requests', async () => {
    const missing = await sky.request('GET', '/planets/7?envelope=true')
    expect([missing.status, missing.body]).toEqual([
      404,
      { ok: false, code: 404, message: 'Planet not found', details: 'GET /planets/7' },
    ])
    const wrong = await sky.request('GET', '/planets/x?envelope=true')
    expect(wrong.body.details).toBe('id must be a whole number from 1 to 999')
    expect((await sky.request('PATCH', '/planets/7?envelope=true')).body.code).toBe(405)
    expect((await sky.request('GET', '/planets/%zz?a=1&envelope=true')).body.code).toBe(400)
    expect((await sky.request('POST', '/planets?envelope=true', { raw: '{' })).body.code).toBe(415)
  })

  test('is selected by true and not by false, and any other value is a 400', async () => {
    expect((await sky.request('GET', '/planets/6/?envelope=false')).body).toEqual({ name: 'Saturn' })
    for (const value of ['', '1', 'TRUE', 'yes']) {
      const { status, body } = await sky.request('GET', `/planets/6?envelope=${value}`)
      expect([value, status, body]).toEqual([value, 400, { fault: 'envelope must be true or false' }])
    }
    expect((await sky.request('GET', '/planets/6?envelope=true&envelope=true')).status).toBe(400)
  })
})
