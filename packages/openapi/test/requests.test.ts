import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { startSky } from './serve.ts'

const sky = await startSky()
afterAll(() => sky[Symbol.asyncDispose]())

const json = { 'Content-Type': 'application/json' }

async function readProbe(target: string, headers: Record<string, string> = {}) {
  const { status, body } = await sky.request('GET', `/probes/${target}`, { headers })
  return status === 200 ? body.seen : [status, body.detail]
}

async function sendRaw(raw: string | Buffer | Buffer[], headers: Record<string, string> = json) {
  const { status, body } = await sky.request('POST', '/probes', { raw, headers })
  return status === 200 ? body.seen : [status, body.detail]
}

describe('text from a path, a query string or a header', () => {
  test('is a number if it has the syntax of a JSON number', async () => {
    expect(await readProbe('1.0E7')).toEqual({ count: 1e7 })
    expect(await readProbe('1e-05')).toEqual({ count: 1e-5 })
    expect(await readProbe('1e%2B21')).toEqual({ count: 1e21 })
    expect(await readProbe('1.0')).toEqual({ count: 1 })
    expect(await readProbe('-2.5')).toEqual({ count: -2.5 })
    expect(await readProbe('-0')).toEqual({ count: 0 })
    expect(await readProbe('1?ratio=0.25')).toEqual({ count: 1, ratio: 0.25 })
    expect(await readProbe('1', { 'X-Depth': '42' })).toEqual({ count: 1, depth: 42 })
    expect((await sky.request('GET', '/planets/006')).body.name).toBe('Saturn')
  })

  test('is a whole number only without a fraction, and too many digits become the largest number', async () => {
    expect((await sky.request('GET', '/planets/6.0')).status).toBe(400)
    const { status, body } = await sky.request('GET', `/planets/${'9'.repeat(400)}`)
    const largest = await sky.request('GET', '/planets/9007199254740991')
    expect([status, body]).toEqual([largest.status, largest.body])
  })

  test('is not a number in any other form', async () => {
    for (const text of [
      '007',
      '1e',
      '+1',
      '%201',
      '1%20',
      '0x10',
      '1.',
      '.5',
      '1,5',
      '--1',
      'NaN',
      'Infinity',
      '1_0',
      '%D9%A1',
    ]) {
      expect([text, await readProbe(text)]).toEqual([text, [400, 'count: must be a number']])
      expect([text, await readProbe(`1?ratio=${text}`)]).toEqual([text, [400, 'ratio: must be a number']])
    }
    expect(await readProbe('1', { 'X-Depth': '1e+' })).toEqual([400, 'X-Depth: must be a number'])
    expect(await readProbe('9'.repeat(400))).toEqual([400, 'count: must be a number'])
    expect(await readProbe('1?ratio=')).toEqual([400, 'ratio: must be a number'])
    expect((await sky.request('GET', '/planets/1.5')).status).toBe(400)
    expect((await sky.request('GET', '/planets/9007199254740993')).status).toBe(400)
  })

  test('is a boolean only as true or false', async () => {
    expect(await readProbe('1?on=true')).toEqual({ count: 1, on: true })
    expect(await readProbe('1?on=false')).toEqual({ count: 1, on: false })
    for (const text of ['', '1', '0', 'TRUE', 'True', 'yes', 'on', 'true%20', 'null']) {
      expect([text, await readProbe(`1?on=${text}`)]).toEqual([text, [400, 'on: must be true or false']])
    }
  })

  test('stays text for a text field', async () => {
    expect(await readProbe('1?label=007')).toEqual({ count: 1, label: '007' })
    expect(await readProbe('1?label=true')).toEqual({ count: 1, label: 'true' })
    expect(await readProbe('1?label=')).toEqual({ count: 1, label: '' })
    expect(await readProbe('1?label')).toEqual({ count: 1, label: '' })
  })
})

test('a list in a query string has commas between its values', async () => {
  expect(await readProbe('1?sizes=3,-2.5&tags=a,b')).toEqual({ count: 1, sizes: [3, -2.5], tags: ['a', 'b'] })
  expect(await readProbe('1?sizes=3')).toEqual({ count: 1, sizes: [3] })
  // Most URL libraries escape commas.
  expect(await readProbe('1?tags=a%2Cb+c')).toEqual({ count: 1, tags: ['a', 'b c'] })
  expect(await readProbe('1?tags=')).toEqual({ count: 1, tags: [''] })
  expect(await readProbe('1?sizes=3,x')).toEqual([400, 'sizes[1]: must be a number'])
  expect(await readProbe('1?sizes=3&sizes=4')).toEqual([400, 'sizes must be given once'])
})

describe('a query string', () => {
  test('is decoded once, with + as a space', async () => {
    expect(await readProbe('1?label=a+b%2Bc%20d')).toEqual({ count: 1, label: 'a b+c d' })
    expect(await readProbe('1?label=%2531')).toEqual({ count: 1, label: '%31' })
    expect(await readProbe('1?l%61bel=a=b?c')).toEqual({ count: 1, label: 'a=b?c' })
    expect(await readProbe('1?&label=x&&')).toEqual({ count: 1, label: 'x' })
    expect(await readProbe('1?')).toEqual({ count: 1 })
  })

  test('with a bad percent-escape is a 400', async () => {
    expect(await readProbe('1?label=%zz')).toEqual([400, 'Malformed percent-escape in query parameter label'])
    expect(await readProbe('1?label=%C3')).toEqual([400, 'Malformed percent-escape in query parameter label'])
    expect(await readProbe('1?%zz=1')).toEqual([400, 'Malformed percent-escape in the query string'])
  })

  test('rejects repeated parameters', async () => {
    expect(await readProbe('1?label=a&ratio=1&label=a')).toEqual([400, 'label must be given once'])
    expect(await readProbe('1?label=a&l%61bel=b')).toEqual([400, 'label must be given once'])
    expect((await sky.request('GET', '/probes/1?label=a&label=b')).body.fields).toEqual(['label'])
  })

  test('rejects unknown parameters and lists the known ones', async () => {
    const known = 'is not a query parameter of this operation; it takes: label, ratio, on, sizes, tags, words, envelope'
    for (const name of [
      'labels',
      'LABEL',
      'count',
      'depth',
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
    ]) {
      expect(await readProbe(`1?${name}=1`)).toEqual([400, `${name} ${known}`])
    }
    expect(await readProbe('1?=1')).toEqual([400, `"" ${known}`])
    expect(await readProbe(`1?${'n'.repeat(5000)}=1`)).toEqual([400, `${'n'.repeat(60)}… ${known}`])
  })
})

describe('headers', () => {
  test('fill their input fields', async () => {
    const sent = { json: { name: 'V', radius: 1 }, headers: { 'idempotency-KEY': 'taken' } }
    expect((await sky.request('POST', '/planets', sent)).body).toEqual({ fault: 'The key was used' })
  })

  test('are named in errors', async () => {
    const sent = { json: { name: 'V', radius: 1 }, headers: { 'Idempotency-Key': 'NOT SMALL' } }
    expect((await sky.request('POST', '/planets', sent)).body).toEqual({
      fault: 'Idempotency-Key: must be 1 to 20 small letters',
    })
  })

  test('are the only source of their fields', async () => {
    const sent = { json: { name: 'V', radius: 1, key: 'taken' } }
    const { status, body } = await sky.request('POST', '/planets', sent)
    expect([status, body.fault]).toEqual([400, 'key: must be sent as the header Idempotency-Key, not in the body'])
  })
})

describe('a body', () => {
  test('keeps its JSON types', async () => {
    const body = {
      count: -1.5,
      on: true,
      label: '',
      parts: [{ size: 0 }],
      tree: { a: [1, '1', null, { b: false }] },
      deep: null,
    }
    expect(await sendRaw(JSON.stringify(body))).toEqual(body)
    for (const [text, field] of [
      ['{"count":"1"}', 'count: must be a number, not text'],
      ['{"count":true}', 'count: must be a number, not a boolean'],
      ['{"count":null}', 'count: must be a number, not null'],
      ['{"count":[1]}', 'count: must be a number, not an array'],
      ['{"count":{}}', 'count: must be a number, not an object'],
      ['{"count":1e400}', 'count: must be a number'],
      ['{"on":"true"}', 'on: must be true or false, not text'],
      ['{"on":1}', 'on: must be true or false, not a number'],
      ['{"label":7}', 'label: must be text, not a number'],
      ['{"parts":[{"size":1},{"size":"2"}]}', 'parts[1].size: must be a whole number, not text'],
    ] as const) {
      expect([text, await sendRaw(text)]).toEqual([text, [400, field]])
    }
  })

  test('can be an array', async () => {
    const post = async (json: unknown) => {
      const { status, body } = await sky.request('POST', '/planets/bulk', { json })
      return status === 201 ? body.map(({ name }: { name: string }) => name) : [status, body.fault]
    }
    const good = { name: 'A', radius: 1 }
    expect(await post([good, { ...good, name: 'B' }])).toEqual(['A', 'B'])
    expect((await post([]))[0]).toBe(400)
    expect(await post({ planets: [good] })).toEqual([400, 'Body: must be an array of 1 to 3 planets, not an object'])
    expect(await post('text')).toEqual([400, 'Body: must be an array of 1 to 3 planets, not text'])
    expect(await post(0)).toEqual([400, 'Body: must be an array of 1 to 3 planets, not a number'])
    expect(await post([good, { name: 'B', radius: '1' }])).toEqual([400, '[1].radius: must be a number, not text'])
    expect(await post([{}, good])).toEqual([400, 'Missing required fields: [0].name, [0].radius'])
    expect((await post([good, null]))[0]).toBe(400)
    expect((await post([good, good, good, good]))[0]).toBe(400)
  })

  test('must be an object in other operations', async () => {
    for (const text of ['[]', '"text"', '1', 'true', 'false', '0', '""']) {
      expect([text, await sendRaw(text)]).toEqual([text, [400, 'Body must be a JSON object']])
    }
  })

  test('can contain a field under an alias, or under both keys with the same value', async () => {
    const post = async (json: unknown) => {
      const { status, body } = await sky.request('POST', '/planets/', { json })
      return status === 200 ? body.name : [status, body.fault]
    }
    expect(await post({ title: 'A', radius: 1 })).toBe('A')
    expect(await post({ name: 'A', radius: 1 })).toBe('A')
    expect(await post({ name: 'A', title: 'A', radius: 1 })).toBe('A')
    expect(await post({ name: 'A', title: 'B', radius: 1 })).toEqual([
      400,
      'title must be the same as name, or left out',
    ])
    expect(await post({ radius: 1 })).toEqual([400, 'Missing required fields: name'])
    expect(await post({ title: '', radius: 1 })).toEqual([400, expect.stringContaining('title: ')])
    expect((await sky.request('POST', '/planets', { json: { title: 'A', radius: 1 } })).body).toEqual({
      fault: 'Missing required fields: name',
    })
  })

  test('that is missing, empty, blank or null is a 400, with or without a Content-Type', async () => {
    for (const raw of ['', ' \r\n\t ', 'null', ' null\n']) {
      for (const headers of [json, {}]) {
        expect([raw, await sendRaw(raw, headers)]).toEqual([raw, [400, 'No input data provided']])
      }
    }
    expect(await sendRaw([], json)).toEqual([400, 'No input data provided'])
    expect(await sendRaw('', { 'Content-Type': 'text/plain' })).toEqual([400, 'No input data provided'])
    const { status, body } = await sky.request('PUT', '/planets/2')
    expect([status, body]).toEqual([400, { fault: 'No input data provided' }])
    expect((await sky.request('POST', '/planets/bulk', { raw: 'null' })).body).toEqual({
      fault: 'No input data provided',
    })
  })

  test('is ignored for methods without a body', async () => {
    const sent = { raw: '{malformed', headers: { 'Content-Type': 'text/plain' } }
    expect((await sky.request('DELETE', '/planets/2', sent)).status).toBe(200)
    expect((await sky.request('GET', '/planets/2', sent)).status).toBe(200)
  })

  test('must be well-formed JSON', async () => {
    for (const [text, position] of [
      ['{', 1],
      ['[1, 2', 5],
      ['tru', 3],
      ['{"count":}', 9],
      ['{count:1}', 1],
      ["{'count':1}", 1],
      ['{"count":1,}', 11],
      ['{"count":1,\n}', 12],
      ['NaN', 0],
      ['{"count":NaN}', 9],
      ['{"count":nuII}', 11],
      ['{"count":01}', 10],
      ['{"label":"position 7"} "x"', 23],
      ['{}{}', 2],
      ['\x00', 0],
      [`[${'1,'.repeat(2000)}NaN]`, 4001],
    ] as const) {
      expect(await sendRaw(text)).toEqual([400, `Body is not valid JSON (at position ${position})`])
    }
  })

  test('must be UTF-8, with or without a byte order mark', async () => {
    expect(await sendRaw(Buffer.from('{"label":"\xff"}', 'latin1'))).toEqual([400, 'Body is not valid UTF-8'])
    expect(await sendRaw(Buffer.from('\ufeff{"label":"é"}'))).toEqual({ label: 'é' })
    expect(await sendRaw(Buffer.from('{"label":"🪐"}'))).toEqual({ label: '🪐' })
    expect(await sendRaw(Buffer.from('{"label":"a"}', 'utf16le'))).toEqual([400, expect.stringContaining('not valid')])
    expect((await sendRaw(Buffer.from('\ufeff')))[0]).toBe(400)
  })

  test('can be nested up to 32 levels deep', async () => {
    const nested = (levels: number) => `${'{"deep":'.repeat(levels)}1${'}'.repeat(levels)}`
    expect(await sendRaw(nested(32))).toEqual(JSON.parse(nested(32)))
    expect(await sendRaw(nested(33))).toEqual([400, 'Body must not be nested deeper than 32 levels'])
    expect((await sendRaw(`${'['.repeat(4000)}`))[0]).toBe(400)
    expect(await sendRaw(`{"deep":${'['.repeat(2000)}${']'.repeat(2000)}}`)).toEqual([
      400,
      'Body must not be nested deeper than 32 levels',
    ])
  })

  test('with names of Object.prototype causes no prototype pollution', async () => {
    const text = '{"__proto__":{"count":1},"constructor":2,"toString":3,"hasOwnProperty":4,"label":"x"}'
    expect(await sendRaw(text)).toEqual({ label: 'x' })
    expect(await sendRaw(`{"tree":${text}}`)).toMatchObject({ tree: { label: 'x' } })
    expect(await sendRaw('{"parts":[{"__proto__":{"size":1}}]}')).toEqual([
      400,
      'Missing required fields: parts[0].size',
    ])
    expect(({} as { count?: number }).count).toBe(undefined)
    expect(await sendRaw('{}')).toEqual({})
  })

  test('with a duplicate key has the last value', async () => {
    expect(await sendRaw('{"count":1,"count":2}')).toEqual({ count: 2 })
  })

  test('can contain unknown fields', async () => {
    expect(await sendRaw('{"unknown":{"a":1},"count":1}')).toEqual({ count: 1 })
  })
})

describe('a media type', () => {
  test('other than JSON is a 415 with the accepted type', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'application/merge-patch+json',
      'text/json',
      'application/json, text/plain',
      'json',
      '',
    ]) {
      const answer = await sky.request('POST', '/probes', { raw: '{}', headers: { 'Content-Type': type } })
      expect([type, answer.status, answer.headers.accept]).toEqual([type, 415, 'application/json'])
    }
  })

  test('is required with a body', async () => {
    expect(await sendRaw('{}', {})).toEqual([415, 'A body must be sent as Content-Type: application/json, in UTF-8'])
  })

  test('can have only UTF-8 as its charset', async () => {
    for (const type of [
      'application/json; charset=utf-8',
      'APPLICATION/JSON;Charset="UTF-8"',
      'application/json ; x=y',
    ]) {
      expect([type, await sendRaw('{}', { 'Content-Type': type })]).toEqual([type, {}])
    }
    for (const charset of ['utf-16', 'latin1', 'us-ascii']) {
      expect((await sendRaw('{}', { 'Content-Type': `application/json; charset=${charset}` }))[0]).toBe(415)
    }
  })

  test('cannot be combined with Content-Encoding', async () => {
    const answer = await sky.request('POST', '/probes', { raw: '{}', headers: { ...json, 'Content-Encoding': 'gzip' } })
    expect([answer.status, answer.headers['accept-encoding']]).toEqual([415, 'identity'])
    expect(await sendRaw('{}', { ...json, 'Content-Encoding': 'identity' })).toEqual({})
  })
})

describe('a body over the limit', () => {
  const large = `{"label":"${'x'.repeat(5000)}"}`

  test('is a 413 with the limit, with and without a Content-Length', async () => {
    expect(await sendRaw(large)).toEqual([413, 'Body must be at most 4096 bytes'])
    expect(await sendRaw([Buffer.from(large)])).toEqual([413, 'Body must be at most 4096 bytes'])
    expect((await sky.request('POST', '/planets/bulk', { raw: 'x'.repeat(1001), headers: json })).status).toBe(413)
    const fits = `{"on":true,"unknown":"${'x'.repeat(4096 - 24)}"}`
    expect([Buffer.byteLength(fits), await sendRaw(fits)]).toEqual([4096, { on: true }])
    expect((await sendRaw(`${fits} `))[0]).toBe(413)
  })

  test('does not block the next request on its connection', async () => {
    const next = 'GET /planets/6 HTTP/1.1\r\nHost: sky\r\nConnection: close\r\n\r\n'
    const head = 'POST /probes HTTP/1.1\r\nHost: sky\r\nContent-Type: application/json\r\n'
    const sized = `${head}Content-Length: ${large.length}\r\n\r\n${large}`
    const chunk = `800\r\n${'x'.repeat(0x800)}\r\n`
    const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(20)}0\r\n\r\n`
    for (const refused of [sized, chunked]) {
      const answers = await sky.exchange(refused + next)
      expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
      expect(answers).toContain('"name":"Saturn"')
    }
  })

  test('does not block it after another error either', async () => {
    const next = 'GET /planets/6 HTTP/1.1\r\nHost: sky\r\nConnection: close\r\n\r\n'
    const body = `Content-Type: text/plain\r\nContent-Length: ${large.length}\r\n`
    const refusals = [
      ['PATCH /planets', '405'],
      ['POST /nowhere', '404'],
      ['POST /planets/%zz', '400'],
    ] as const
    for (const [line, status] of refusals) {
      const answers = await sky.exchange(`${line} HTTP/1.1\r\nHost: sky\r\n${body}\r\n${large}${next}`)
      expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`, 'HTTP/1.1 200'])
    }
  })
})

describe('a connection', () => {
  test('that closes within a body does not affect other requests', async () => {
    const before = sky.errors.length
    const socket = connect(sky.port, '127.0.0.1')
    await once(socket, 'connect')
    const head =
      'POST /probes HTTP/1.1\r\nHost: sky\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"la'
    socket.write(head, () => socket.destroy())
    await expect.poll(() => sky.errors.slice(before).map(({ message }) => message)).toEqual(['Body is incomplete'])
    expect((await sky.request('GET', '/planets/6')).status).toBe(200)
  })

  test('supports pipelined requests', async () => {
    const get = (id: number, last = '') => `GET /planets/${id} HTTP/1.1\r\nHost: sky\r\n${last}\r\n`
    const post =
      'POST /probes HTTP/1.1\r\nHost: sky\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"count":5}'
    const answers = await sky.exchange(get(6) + post + get(7) + get(2, 'Connection: close\r\n'))
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 404', 'HTTP/1.1 200'])
    expect(answers.match(/Saturn|"count":5|not found|Venus/g)).toEqual(['Saturn', '"count":5', 'not found', 'Venus'])
  })
})
