import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { mutation, type Procedure, query, resource } from '../src/contract.ts'
import { openApiDocument } from '../src/document.ts'
import { ApiError, expressHandlers } from '../src/index.ts'
import { startSky } from './serve.ts'
import { contract, envelope } from './sky.ts'
import { documentOptions, resourceOf, serve } from './small.ts'

const sky = await startSky()
afterAll(() => sky[Symbol.asyncDispose]())

describe('bindings', () => {
  test('return different fields of one procedure', async () => {
    expect((await sky.request('GET', '/planets/6')).body).toEqual({
      id: 6,
      name: 'Saturn',
      kind: 'gas',
      radius: 58232,
      ringed: true,
    })
    expect((await sky.request('GET', '/planets/6/')).body).toEqual({ name: 'Saturn' })
    expect((await sky.request('GET', '/worlds/6')).body.id).toBe(6)
  })

  test('can have different statuses', async () => {
    const planet = { name: 'Vulcan', radius: 1 }
    expect((await sky.request('POST', '/planets', { json: planet })).status).toBe(201)
    expect((await sky.request('POST', '/planets/', { json: planet })).status).toBe(200)
    const deleted = await sky.request('DELETE', '/planets/2')
    expect([deleted.status, deleted.body]).toEqual([200, { message: 'Venus is gone' }])
    const emptied = await sky.request('DELETE', '/worlds/2')
    expect([emptied.status, emptied.text, emptied.headers['content-type']]).toEqual([204, '', undefined])
  })

  test('can be at the root path', async () => {
    expect((await sky.request('GET', '/')).body).toEqual({ star: 'Sol' })
    expect((await sky.request('GET', '/?envelope=true')).body).toEqual({ ok: true, data: { star: 'Sol' }, meta: {} })
  })

  test('prefer static paths to parameters', async () => {
    expect((await sky.request('POST', '/planets/bulk', { json: [{ name: 'Vulcan', radius: 1 }] })).status).toBe(201)
    expect((await sky.request('GET', '/planets/bulk')).status).toBe(405)
  })
})

describe('a trailing slash', () => {
  test('distinguishes two bindings if it is significant', async () => {
    expect((await sky.request('GET', '/planets?limit=1')).body[0].id).toBe(2)
    expect((await sky.request('GET', '/planets/?limit=1')).body).toEqual([{ name: 'Venus' }])
    expect((await sky.request('DELETE', '/planets/2/')).status).toBe(405)
  })

  test('makes no difference by default', async () => {
    for (const path of ['/worlds', '/worlds/', '/worlds/6', '/worlds/6/', '/planets/6/moons/', '/moons/Titan/']) {
      expect([path, (await sky.request('GET', path)).status]).toEqual([path, 200])
    }
    expect((await sky.request('DELETE', '/worlds/2/')).status).toBe(204)
  })

  test('is exactly one slash', async () => {
    for (const path of ['/worlds//', '/planets//', '//worlds', '/moons//']) {
      expect([path, (await sky.request('GET', path)).status]).not.toEqual([path, 200])
    }
  })
})

describe('paths', () => {
  test('are case-sensitive', async () => {
    expect((await sky.request('GET', '/Planets')).status).toBe(404)
  })

  test('have their percent-escapes decoded once', async () => {
    const names = [
      ['T%69tan', 'Titan'],
      ['%2531', '%31'],
      ['%25', '%'],
      ['%252F', '%2F'],
      ['a%2Fb', 'a/b'],
      ['a%3Fb%23c', 'a?b#c'],
      ['a+b', 'a+b'],
      ['%C3%A9', 'é'],
      ['%F0%9F%AA%90', '🪐'],
      ['__proto__', '__proto__'],
      ['constructor', 'constructor'],
      ['%00', '\0'],
    ] as const
    for (const [sent, read] of names) expect((await sky.request('GET', `/moons/${sent}`)).body).toEqual({ name: read })
  })

  test('can be percent-encoded in static segments', async () => {
    expect((await sky.request('GET', '/pl%61nets/6')).body.name).toBe('Saturn')
    expect((await sky.request('GET', '/%70lanets/6/%6Doons')).body).toEqual(['Titan', 'Rhea'])
  })

  test('with a bad percent-escape are a 400', async () => {
    for (const path of ['/moons/%zz', '/moons/%', '/moons/%C3', '/moons/%ff%fe', '/moons/%ED%A0%80', '/%zz']) {
      const { status, text } = await sky.request('GET', path)
      expect([path, status]).toEqual([path, 400])
      expect(text).toContain('Malformed percent-escape in the path')
    }
  })

  test('can be ten thousand characters long', async () => {
    const name = 'm'.repeat(10_000)
    expect((await sky.request('GET', `/moons/${name}`)).body).toEqual({ name })
    const refused = await sky.request('GET', `/planets/${'9'.repeat(10_000)}`)
    expect([refused.status, refused.text.length < 200]).toEqual([400, true])
  })

  test('can include scheme and host, as from a proxy', async () => {
    const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: sky\r\nConnection: close\r\n\r\n`
    expect(await sky.exchange(get('http://sky/planets/6'))).toContain('"name":"Saturn"')
    expect(await sky.exchange(get('HTTP://sky:80/planets?limit=1&radius_lt=7000'))).toContain('"name":"Venus"')
    expect(await sky.exchange(get('http://sky'))).toContain('{"star":"Sol"}')
    expect(await sky.exchange(get('http://sky/planets/7'))).toContain('{"fault":"Planet not found"}')
    expect(await sky.exchange(get('http://sky/planets/7?envelope=true'))).toContain('"details":"GET /planets/7"')
  })
})

describe('methods', () => {
  test('HEAD gets the response of GET without the body', async () => {
    for (const path of ['/planets/6', '/planets?envelope=true', '/moons/%C3%A9', '/planets/7', '/failures/error']) {
      const got = await sky.request('GET', path)
      const head = await sky.request('HEAD', path)
      const { date: _, ...headers } = got.headers
      expect(head.headers).toMatchObject(headers)
      expect([path, head.status, head.text]).toEqual([path, got.status, ''])
      expect(got.headers['content-length']).toBe(String(Buffer.byteLength(got.text)))
    }
  })

  test('OPTIONS lists the methods of a path', async () => {
    const allow = async (path: string) => {
      const { status, text, headers } = await sky.request('OPTIONS', path)
      return [status, text, headers.allow]
    }
    expect(await allow('/planets')).toEqual([204, '', 'GET, HEAD, POST, OPTIONS'])
    expect(await allow('/planets/6')).toEqual([204, '', 'GET, HEAD, PUT, DELETE, OPTIONS'])
    expect(await allow('/planets/bulk')).toEqual([204, '', 'POST, OPTIONS'])
    expect(await allow('*')).toEqual([204, '', 'GET, HEAD, POST, PUT, DELETE, OPTIONS'])
    expect((await sky.request('OPTIONS', '/nowhere')).status).toBe(404)
  })

  test('that a path does not support get a 405 with the supported ones', async () => {
    const refused = async (method: string, path: string) => {
      const { status, headers, body } = await sky.request(method, path)
      return [status, headers.allow, body]
    }
    expect(await refused('PATCH', '/planets')).toEqual([
      405,
      'GET, HEAD, POST, OPTIONS',
      { fault: 'PATCH is not allowed here, only GET, HEAD, POST or OPTIONS' },
    ])
    expect((await refused('DELETE', '/moons/Titan')).slice(0, 2)).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect((await refused('PROPFIND', '/moons/Titan'))[0]).toBe(405)
    expect((await refused('TRACE', '/moons/Titan'))[0]).toBe(405)
    expect((await refused('GET', '/probes'))[1]).toBe('POST, OPTIONS')
    const head = await sky.request('HEAD', '/probes')
    expect([head.status, head.headers.allow]).toEqual([405, 'POST, OPTIONS'])
  })

  test('other than OPTIONS get a 404 for `*`', async () => {
    expect((await sky.request('GET', '*')).status).toBe(404)
  })
})

const seen = z.object({ seen: z.unknown() })
const at = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: `/${string}`, input: z.ZodType = z.object({})) =>
  (method === 'GET' ? query : mutation)({ input, output: seen, meta: { openapi: { method, path } } }) as Procedure

/** Serves the procedures; each returns its name and its input. */
async function serveEach(procedures: Record<string, Procedure>) {
  const things = Object.fromEntries(
    Object.keys(procedures).map((name) => [name, async (input: unknown) => ({ seen: [name, input] })]),
  )
  const { request } = await serve({ things: resourceOf(procedures) }, { things })
  return async (method: string, path: string) => {
    const { status, body } = await request(method, path)
    return status === 200 ? body.seen : [status, body.error]
  }
}

const id = z.object({ id: z.int({ error: 'must be a whole number' }) })

describe('a path has the syntax of OpenAPI:', () => {
  test('a colon is a colon', async () => {
    const ask = await serveEach({
      purge: at('DELETE', '/planets:purge'),
      melt: at('DELETE', '/planets/{id}:melt', id),
      delete: at('DELETE', '/planets/{id}', id),
      double: at('GET', '/a::b'),
    })
    expect(await ask('DELETE', '/planets:purge')).toEqual(['purge', {}])
    expect((await ask('DELETE', '/planets-of-bob'))[0]).toBe(404)
    expect((await ask('DELETE', '/planets'))[0]).toBe(404)
    expect((await ask('DELETE', '/planets:purge:'))[0]).toBe(404)
    expect(await ask('DELETE', '/planets/5:melt')).toEqual(['melt', { id: 5 }])
    expect(await ask('DELETE', '/planets/5:melt/')).toEqual(['melt', { id: 5 }])
    expect(await ask('DELETE', '/planets/5')).toEqual(['delete', { id: 5 }])
    expect(await ask('DELETE', '/planets/5:burn')).toEqual([400, 'id: must be a whole number'])
    expect((await ask('DELETE', '/planets/:melt'))[0]).toBe(400)
    expect(await ask('GET', '/a::b')).toEqual(['double', {}])
    expect((await ask('GET', '/a:b'))[0]).toBe(404)
  })

  test('a parameter can have any name, and text around it', async () => {
    const text = (name: string) => z.object({ [name]: z.string() })
    const ask = await serveEach({
      dash: at('GET', '/planets/{planet-id}', text('planet-id')),
      prefix: at('GET', '/planets-of-{owner}', text('owner')),
      suffix: at('GET', '/files/{name}.json', text('name')),
      both: at('GET', '/files/v{version}-final', text('version')),
      group: at('GET', '/files/{name}(old)', text('name')),
      dollar: at('GET', '/odd/{$name.x}', text('$name.x')),
    })
    expect(await ask('GET', '/planets/a-b')).toEqual(['dash', { 'planet-id': 'a-b' }])
    expect(await ask('GET', '/planets-of-bob')).toEqual(['prefix', { owner: 'bob' }])
    expect((await ask('GET', '/planets-of-'))[0]).toBe(404)
    expect(await ask('GET', '/files/a.b.json')).toEqual(['suffix', { name: 'a.b' }])
    expect(await ask('GET', '/files/a%0Ab%2F.json')).toEqual(['suffix', { name: 'a\nb/' }])
    expect((await ask('GET', '/files/.json'))[0]).toBe(404)
    expect(await ask('GET', '/files/v2-final')).toEqual(['both', { version: '2' }])
    expect(await ask('GET', '/files/a(old)')).toEqual(['group', { name: 'a' }])
    expect((await ask('GET', '/files/a'))[0]).toBe(404)
    expect(await ask('GET', '/odd/x')).toEqual(['dollar', { '$name.x': 'x' }])
  })

  test('any static text is matched literally', async () => {
    const ask = await serveEach({ odd: at('GET', "/a+b.c-d(e)~$&,;=@!'/%/é") })
    expect(await ask('GET', "/a+b.c-d(e)~$&,;=@!'/%25/%C3%A9")).toEqual(['odd', {}])
    expect((await ask('GET', '/aab.c-d'))[0]).toBe(404)
  })

  test('each method of a path can name the parameters differently', async () => {
    const procedures = {
      get: at('GET', '/planets/{id}', id),
      delete: at('DELETE', '/planets/{planet}', z.object({ planet: z.string().max(1, { error: 'must be short' }) })),
      moon: at('GET', '/planets/{planet}/moons/{moon}', z.object({ planet: z.string(), moon: z.string() })),
      swap: at('DELETE', '/planets/{moon}/moons/{planet}', z.object({ planet: z.string(), moon: z.string() })),
    }
    const ask = await serveEach(procedures)
    expect(await ask('GET', '/planets/5')).toEqual(['get', { id: 5 }])
    expect(await ask('DELETE', '/planets/5')).toEqual(['delete', { planet: '5' }])
    expect(await ask('DELETE', '/planets/55')).toEqual([400, 'planet: must be short'])
    expect(await ask('GET', '/planets/a/moons/b')).toEqual(['moon', { planet: 'a', moon: 'b' }])
    expect(await ask('DELETE', '/planets/a/moons/b')).toEqual(['swap', { moon: 'a', planet: 'b' }])
    expect(await ask('PUT', '/planets/5')).toEqual([405, 'PUT is not allowed here, only GET, HEAD, DELETE or OPTIONS'])
    // OpenAPI has one template per path.
    const { paths } = openApiDocument({ things: resourceOf(procedures) }, documentOptions)
    const named = Object.entries(paths ?? {}).map(([path, item]) => [
      path,
      ...[item?.get, item?.delete].map((operation) =>
        operation?.parameters?.flatMap((parameter) =>
          'in' in parameter && parameter.in === 'path' ? `${parameter.name} ${parameter.required}` : [],
        ),
      ),
    ])
    expect(named).toEqual([
      ['/planets/{id}', ['id true'], ['id true']],
      ['/planets/{planet}/moons/{moon}', ['planet true', 'moon true'], ['planet true', 'moon true']],
    ])
  })

  test('each method of a path can treat the trailing slash differently', async () => {
    const significant = at('GET', '/planets/')
    significant.meta.openapi.trailingSlash = 'significant'
    const ask = await serveEach({ list: significant, add: at('DELETE', '/planets') })
    expect(await ask('GET', '/planets/')).toEqual(['list', {}])
    expect(await ask('DELETE', '/planets/')).toEqual(['add', {}])
    expect(await ask('DELETE', '/planets')).toEqual(['add', {}])
    expect(await ask('GET', '/planets')).toEqual([405, 'GET is not allowed here, only DELETE or OPTIONS'])
  })

  test('a path parameter with any name is documented', () => {
    const procedures = { get: at('GET', '/planets/{planet-id}', z.object({ 'planet-id': z.int() })) }
    const { paths } = openApiDocument({ things: resourceOf(procedures) }, documentOptions)
    expect(paths?.['/planets/{planet-id}']?.get?.parameters?.[0]).toMatchObject({
      name: 'planet-id',
      in: 'path',
      required: true,
    })
  })
})

describe('a contract is rejected at startup', () => {
  test.each([
    ['GET', '/planets/{id}', '/planets/{planet}'],
    ['GET', '/planets/{id}', '/planets/{planet}/'],
    ['DELETE', '/planets:purge', '/planets:purge'],
    ['GET', '/planets/{id}:melt', '/planets/{planet}:melt'],
  ] as const)('if two operations are bound to %s %s', (method, path, other) => {
    const input = z.object({ id: z.string().optional(), planet: z.string().optional() })
    const twice = { things: resourceOf({ first: at(method, path, input), second: at(method, other, input) }) }
    const operations = ['things.first', 'things.second'].map((name) => ({ name }) as never)
    expect(() => expressHandlers(twice, operations, options)).toThrow(
      `things.first and things.second are both bound to ${method} ${other}`,
    )
  })

  test.each([
    '/planets/*',
    '/planets/{a}{b}',
    '/planets/{a},{b}',
    '/planets/{a',
    '/planets/a}',
    '/planets/{}',
    '/planets/{a/b}',
    '/planets?x=1',
    '/planets#x',
    'planets',
  ])('if a path cannot be routed: %s', (path) => {
    const input = z.object({ a: z.string().optional(), b: z.string().optional() })
    const things = resourceOf({ get: at('GET', path as '/', input) })
    expect(() => expressHandlers({ things }, [{ name: 'things.get' } as never], options)).toThrow(
      `things.get: the path ${path} must be segments that begin with / and contain at most one {parameter}; *, ? and # are not allowed`,
    )
  })

  const options = { envelope, context: () => ({}), requestId: () => '' }

  test('if a procedure has no implementation', () => {
    expect(() => expressHandlers(contract, [], options)).toThrow('planets.list has no implementation')
  })

  test('if two bindings are identical', () => {
    const doubled = {
      planets: {
        ...contract.planets,
        procedures: { a: contract.planets.procedures.get, b: contract.planets.procedures.get },
      },
    }
    const operation = (name: string) => ({
      name,
      resource: doubled.planets,
      procedure: doubled.planets.procedures.a,
      headers: [],
      findMissing: async () => undefined,
      admit: () => undefined,
      call: async () => ({}),
    })
    expect(() => expressHandlers(doubled, [operation('planets.a'), operation('planets.b')], options)).toThrow(
      'planets.a and planets.b are both bound to GET /planets/{id}',
    )
  })

  test.each([
    ['/planets/{planet_id}', '/planets/{planet_id}'],
    ['/planets/', '/planets/'],
  ])('if another resource has the same path: %s', (path, taken) => {
    const [id] = /(?<=\{)\w+/.exec(path) ?? []
    const stars = {
      ...contract.home,
      procedures: {
        get: query({
          input: z.object({ [id ?? 'q']: z.string().optional() }),
          output: z.object({}),
          meta: { openapi: { method: 'GET', path: path as '/', trailingSlash: 'significant' } },
        }),
      },
    }
    const names = Object.keys(contract.planets.procedures).map((verb) => `planets.${verb}`)
    const operations = [...names, 'stars.get'].map(
      (name) => ({ name }) as Parameters<typeof expressHandlers>[1][number],
    )
    expect(() => expressHandlers({ planets: contract.planets, stars }, operations, options)).toThrow(
      new RegExp(`^planets\\.\\w+ and stars\\.get are both bound to (GET )?${taken.replace(/[{}]/g, '\\$&')}$`),
    )
  })

  test('if a binding binds an unknown field', () => {
    const broken = resource({
      ...contract.home,
      procedures: {
        get: query({ ...contract.home.procedures.get, meta: { openapi: { method: 'GET', path: '/{nothing}' } } }),
        set: mutation({ input: z.string(), output: z.string(), meta: { openapi: { method: 'PUT', path: '/' } } }),
      },
    })
    expect(() => expressHandlers({ broken }, [], options)).toThrow(
      'broken.get: GET /{nothing} binds the unknown field "nothing"',
    )
  })
})

test('a path under a record that does not exist is a 404', async () => {
  const rest = (path: `/${string}`, more = {}) => ({ openapi: { method: 'GET' as const, path, ...more } })
  const moons = query({
    input: z.object({ star_id: z.int().min(1).optional() }),
    output: z.array(z.string()),
    meta: rest('/moons', {
      additionalBindings: [
        { path: '/stars/{star_id}/moons', operationId: 'moonsOf', parents: { star_id: 'things.star' } },
      ],
    }),
  })
  const star = query({ input: z.object({ id: z.int() }), output: z.object({}), meta: rest('/stars/{id}') })
  const contract = { things: resourceOf({ moons, star }) }
  const { request } = await serve(contract, {
    things: {
      moons: async ({ star_id }) => [`${star_id}a`],
      star: async ({ id }) => {
        if (id !== 1) throw new ApiError(404, 'Star not found')
        return {}
      },
    },
  })
  const get = async (path: string) => {
    const { status, body } = await request('GET', path)
    return [status, body]
  }
  expect(await get('/stars/1/moons')).toEqual([200, ['1a']])
  expect(await get('/moons?star_id=2')).toEqual([200, ['2a']])
  expect(await get('/stars/2/moons')).toEqual([404, { error: 'Star not found', fields: [] }])
  // The filter of the list takes fewer numbers than the path of the record.
  expect(await get('/stars/-1/moons')).toEqual([404, { error: 'Star not found', fields: [] }])
  expect(((await get('/moons?star_id=-1')) as [number])[0]).toBe(400)
  const [status, { fields }] = (await get('/stars/x/moons')) as [number, { fields: string[] }]
  expect([status, fields]).toEqual([400, ['star_id']])
  const document = openApiDocument(contract, documentOptions)
  expect(document.paths?.['/stars/{star_id}/moons']?.get?.responses).toHaveProperty('404')
  expect(document.paths?.['/moons']?.get?.responses).not.toHaveProperty('404')
})
