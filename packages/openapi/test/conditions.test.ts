import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { entityTags } from '../src/conditions.ts'
import { mutation, query } from '../src/contract.ts'
import { ApiError } from '../src/index.ts'
import { startSky } from './serve.ts'
import { resourceOf, serve } from './small.ts'

const sky = await startSky()
afterAll(() => sky[Symbol.asyncDispose]())

const json = { name: 'Venus', radius: 6052 }

const tagOf = async (path: string) => (await sky.request('GET', path)).headers.etag as string
/** The tag of planet 6, with its quotes. */
const SATURN = await tagOf('/planets/6')
const bare = SATURN.slice(1, -1)

describe('an ETag', () => {
  test('consists of the version, the schema name and a schema hash', async () => {
    expect(SATURN).toMatch(/^"12-Planet\.[0-9a-f]{6}"$/)
    expect(await tagOf('/worlds/6')).toBe(SATURN)
    expect(await tagOf('/planets/6/')).toMatch(/^"12-PlanetName\.[0-9a-f]{6}"$/)
    expect(await tagOf('/failures/fine')).toMatch(/^"1-fail\.[0-9a-f]{6}"$/)
    expect(await tagOf('/planets')).toBe(undefined)
  })

  test('differs in the envelope', async () => {
    const wrapped = await tagOf('/planets/6?envelope=true')
    expect(wrapped).toMatch(/^"12-Planet\.[0-9a-f]{6}-envelope"$/)
    expect(wrapped).not.toBe(`"${bare}-envelope"`)
  })

  test('is sent after a write, also with a 204', async () => {
    const shape = bare.slice(3)
    expect((await sky.request('POST', '/planets', { json })).headers.etag).toBe(`"1-${shape}"`)
    const { status, headers, text } = await sky.request('PUT', '/planets/2/', { json })
    expect([status, headers.etag, text]).toEqual([204, `"4-${shape}"`, ''])
  })
})

describe('the schema hash in an ETag', () => {
  /** The tags of version 3 of a thing with the schema `response`, without and with the envelope. */
  async function tagsOf(response: z.ZodType) {
    const things = resourceOf({
      get: query({
        input: z.object({}),
        output: z.looseObject({ version: z.int() }),
        meta: { openapi: { method: 'GET', path: '/thing', response, etag: 'version', operationId: 'getThing' } },
      }),
    })
    const thing = { version: 3, name: 'Ann', age: 30 }
    const { request } = await serve({ things }, { things: { get: async () => thing } })
    const tags = await Promise.all(
      ['/thing', '/thing?envelope=true'].map(async (path) => (await request('GET', path)).headers.get('etag')),
    )
    const old = await request('GET', '/thing', { headers: { 'If-None-Match': before[0] ?? '' } })
    return { tags, old: old.status }
  }

  let before: (string | null)[] = []
  test('changes with the fields of the response', async () => {
    before = (await tagsOf(z.object({ name: z.string() }))).tags
    const { tags, old } = await tagsOf(z.object({ name: z.string(), age: z.int() }))
    expect(new Set([...before, ...tags]).size).toBe(4)
    expect(old).toBe(200)
    for (const response of [
      z.object({ name: z.string(), age: z.int().optional() }),
      z.object({ name: z.string().nullable() }),
      z.object({ name: z.string().transform((name) => ({ name })) }),
      z.looseObject({ name: z.string() }),
    ]) {
      expect(new Set([...before, ...(await tagsOf(response)).tags]).size).toBe(4)
    }
  })

  test('does not change with descriptions', async () => {
    const described = z.object({ name: z.string().meta({ description: 'What it is called.', examples: ['Ann'] }) })
    for (const response of [z.object({ name: z.string() }), described, described.describe('A thing.')]) {
      expect(await tagsOf(response)).toEqual({ tags: before, old: 304 })
    }
  })

  test('supports schemas with the same name', async () => {
    const name = z.string().meta({ id: 'Name' })
    const { tags } = await tagsOf(z.object({ name, nick: name.optional(), age: z.int().meta({ id: 'Name' }) }))
    expect(tags[0]).toMatch(/^"3-getThing\.[0-9a-f]{6}"$/)
  })

  test('depends on fields named title or description', async () => {
    const titled = await tagsOf(z.object({ title: z.string(), description: z.string() }).partial())
    const untitled = await tagsOf(z.object({}))
    expect(titled.tags[0]).not.toBe(untitled.tags[0])
  })
})

describe('If-None-Match', () => {
  const get = async (tags: string, method = 'GET', path = '/planets/6') => {
    const { status, headers, text } = await sky.request(method, path, { headers: { 'If-None-Match': tags } })
    return [status, headers.etag, text !== '']
  }

  test('with the current tag gets a 304 without a body', async () => {
    for (const tags of [
      SATURN,
      `W/${SATURN}`,
      '*',
      ' * ',
      `"a", ${SATURN}`,
      `W/"x" , W/${SATURN},`,
      `"a,b",${SATURN}`,
    ]) {
      expect([tags, await get(tags)]).toEqual([tags, [304, SATURN, false]])
    }
    expect(await get(SATURN, 'HEAD')).toEqual([304, SATURN, false])
    const wrapped = await tagOf('/planets/6?envelope=true')
    expect(await get(wrapped, 'GET', '/planets/6?envelope=true')).toEqual([304, wrapped, false])
    expect(await get(wrapped)).toEqual([200, SATURN, true])
  })

  test('with another tag gets the full response', async () => {
    for (const tags of [
      '"11-Planet"',
      '"12-PlanetName"',
      '"12-Planet-envelope"',
      '"12-Planet"',
      bare,
      `"${bare}`,
      '',
      `w/${SATURN}`,
      SATURN.toUpperCase(),
      `"${bare}-envelope"`,
    ]) {
      expect([tags, await get(tags)]).toEqual([tags, [200, SATURN, true]])
    }
  })

  test('with * prevents writes to an existing record', async () => {
    const put = async (path: string, headers: Record<string, string>) =>
      (await sky.request('PUT', path, { json, headers })).status
    expect(await put('/planets/2', { 'If-None-Match': '*' })).toBe(412)
    expect(await put('/planets/2/', { 'If-None-Match': ' * ' })).toBe(412)
    expect(await put('/planets/2', { 'If-None-Match': '*', 'If-Match': '*' })).toBe(412)
    expect(await put('/planets/2', { 'If-None-Match': '*', 'If-Match': '"3-Planet"' })).toBe(412)
    expect(await put('/planets/3', { 'If-None-Match': '*' })).toBe(404)
  })

  test('with tags is refused for a write', async () => {
    for (const tags of ['"3-Planet"', 'W/"3-Planet"', '"4-Planet", "5-Planet"']) {
      const { status, body } = await sky.request('PUT', '/planets/2', { json, headers: { 'If-None-Match': tags } })
      expect([status, body]).toEqual([400, { fault: 'If-None-Match must be * in a write' }])
    }
  })
})

describe('If-Match', () => {
  const put = async (tags: string | string[], path = '/planets/2') => {
    const { status, body } = await sky.request('PUT', path, { json, headers: { 'If-Match': tags } })
    return status === 400 ? body.fault : status
  }

  test('with the current version allows the write, whatever the schema', async () => {
    for (const tags of [
      '"3-Planet"',
      '"3-PlanetName"',
      '"3-Planet-envelope"',
      '"3-"',
      '"3-Planet.3fa9c1"',
      '"3-Planet.3fa9c1-envelope"',
      '"1-Planet", "3-Planet"',
      '*',
      '"x", "3-y"',
    ]) {
      expect([tags, await put(tags)]).toEqual([tags, 200])
    }
    expect(await put(['"1-Planet"', '"3-Planet"'])).toBe(200)
  })

  test('without the current version gets a 412', async () => {
    for (const tags of [
      '"2-Planet"',
      '"4-Planet"',
      'W/"3-Planet"',
      '"3"',
      '"foreign"',
      '""',
      '"03-Planet"',
      '"3.0-Planet"',
      '"-3-Planet"',
      '"33-Planet"',
    ]) {
      expect([tags, await put(tags)]).toEqual([tags, 412])
    }
    expect(await put('"99999999999999999999-Planet"')).toBe(412)
  })

  test('accepts any version up to the largest safe integer', async () => {
    const seen = z.object({ versions: z.array(z.int()).optional() })
    const things = resourceOf({
      patch: mutation({
        input: seen,
        output: seen,
        meta: { openapi: { method: 'PATCH', path: '/thing', ifMatch: 'versions' } },
      }),
    })
    const { request } = await serve({ things }, { things: { patch: async (input) => input } })
    const versions = async (tags: string) =>
      (await request('PATCH', '/thing', { json: {}, headers: { 'If-Match': tags } })).body.versions
    expect(await versions('"9999999999-Thing"')).toEqual([9999999999])
    expect(await versions('"9007199254740991-Thing.3fa9c1", "1-x"')).toEqual([9007199254740991, 1])
    expect(await versions('"9007199254740992-Thing"')).toEqual([])
    expect(await versions(`"${'9'.repeat(400)}-Thing"`)).toEqual([])
  })

  test('with a version that no record can have gets a 412, not a 400', async () => {
    const things = resourceOf({
      patch: mutation({
        input: z.object({ versions: z.array(z.int().max(2147483647)).optional() }),
        output: z.object({}),
        errors: [412],
        meta: { openapi: { method: 'PATCH', path: '/thing', ifMatch: 'versions' } },
      }),
    })
    const patch = async ({ versions }: { versions?: number[] | undefined }) => {
      if (versions !== undefined && !versions.includes(2147483647)) throw new ApiError(412, 'Another version')
      return {}
    }
    const { request } = await serve({ things }, { things: { patch } })
    const status = async (tags: string) =>
      (await request('PATCH', '/thing', { json: {}, headers: { 'If-Match': tags } })).status
    expect(await status('"2147483647-Thing"')).toBe(200)
    expect(await status('"2147483648-Thing"')).toBe(412)
    expect(await status('"2147483648-Thing", "2147483647-Thing"')).toBe(200)
  })

  test('works with an asynchronous check of its field', async () => {
    const versions = z.array(z.int().refine(async (version) => version < 9))
    const things = resourceOf({
      patch: mutation({
        input: z.object({ versions: versions.optional() }),
        output: z.object({ versions }),
        meta: { openapi: { method: 'PATCH', path: '/thing', ifMatch: 'versions', response: z.object({}) } },
      }),
    })
    const { request } = await serve({ things }, { things: { patch: async () => ({ versions: [] }) } })
    const patch = (tag: string) => request('PATCH', '/thing', { json: {}, headers: { 'If-Match': tag } })
    expect((await patch('"3-Thing"')).status).toBe(200)
    expect((await patch('"10-Thing"')).status).toBe(400)
  })

  test('that is not a list of tags gets a 400', async () => {
    for (const tags of [
      '3-Planet',
      '"3-Planet',
      '3',
      '',
      ',',
      '"3-Planet" "4-Planet"',
      '"3-Planet"x',
      '*, "3-Planet"',
      '"a b"',
      "'3-Planet'",
    ]) {
      expect([tags, await put(tags)]).toEqual([tags, 'If-Match must be * or a list of quoted entity tags'])
    }
  })

  test('is named in errors about its field', async () => {
    expect(await put('"1-a", "2-a", "3-a", "4-a"')).toMatch(/^If-Match: /)
  })

  test('cannot be set in the body, of any write', async () => {
    const rule = 'must be sent as the header If-Match, not in the body'
    for (const [method, path] of [
      ['PUT', '/planets/2'],
      ['POST', '/planets'],
    ] as const) {
      const { status, body } = await sky.request(method, path, { json: { ...json, if_version: [1] } })
      expect([status, body.fault]).toEqual([400, `if_version: ${rule}`])
    }
    const rows = [
      { name: 'A', radius: 1 },
      { name: 'B', radius: 1, if_version: 1 },
    ]
    const { status, body } = await sky.request('POST', '/planets/bulk', { json: rows })
    expect([status, body.fault]).toEqual([400, `[1].if_version: ${rule}`])
  })
})

describe('a list of entity tags', () => {
  test('is parsed with any separators', () => {
    expect(entityTags('"a"')).toEqual([{ weak: false, tag: 'a' }])
    expect(entityTags(' W/"a" ,, "b,c" , ')).toEqual([
      { weak: true, tag: 'a' },
      { weak: false, tag: 'b,c' },
    ])
    expect(entityTags('""')).toEqual([{ weak: false, tag: '' }])
    expect(entityTags('')).toBe(undefined)
    expect(entityTags('a')).toBe(undefined)
  })

  test('is parsed in linear time', () => {
    const started = process.cpuUsage()
    expect(entityTags(`,${' '.repeat(200_000)}x`)).toBe(undefined)
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(1000)
  })
})
