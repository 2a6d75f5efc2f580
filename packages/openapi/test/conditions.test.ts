import { afterAll, describe, expect, test } from 'vitest'
import { entityTags } from '../src/request.ts'
import { startSky } from './serve.ts'

const sky = await startSky()
afterAll(() => sky[Symbol.asyncDispose]())

const json = { name: 'Venus', radius: 6052 }

describe('an ETag', () => {
  test('is the version and the shape of the answer', async () => {
    const tag = async (path: string) => (await sky.request('GET', path)).headers.etag
    expect(await tag('/planets/6')).toBe('"12-Planet"')
    expect(await tag('/worlds/6')).toBe('"12-Planet"')
    expect(await tag('/planets/6/')).toBe('"12-PlanetName"')
    expect(await tag('/planets/6?envelope=true')).toBe('"12-Planet-envelope"')
    expect(await tag('/failures/fine')).toBe('"1-fail"')
    expect(await tag('/planets')).toBe(undefined)
  })

  test('is there after a write, a 204 too', async () => {
    expect((await sky.request('POST', '/planets', { json })).headers.etag).toBe('"1-Planet"')
    const { status, headers, text } = await sky.request('PUT', '/planets/2/', { json })
    expect([status, headers.etag, text]).toEqual([204, '"4-Planet"', ''])
  })
})

describe('If-None-Match', () => {
  const get = async (tags: string, method = 'GET', path = '/planets/6') => {
    const { status, headers, text } = await sky.request(method, path, { headers: { 'If-None-Match': tags } })
    return [status, headers.etag, text !== '']
  }

  test('that names the tag is a 304 without a body', async () => {
    for (const tags of [
      '"12-Planet"',
      'W/"12-Planet"',
      '*',
      ' * ',
      '"a", "12-Planet"',
      'W/"x" , W/"12-Planet",',
      '"a,b","12-Planet"',
    ]) {
      expect([tags, await get(tags)]).toEqual([tags, [304, '"12-Planet"', false]])
    }
    expect(await get('"12-Planet"', 'HEAD')).toEqual([304, '"12-Planet"', false])
    expect(await get('"12-Planet-envelope"', 'GET', '/planets/6?envelope=true')).toEqual([
      304,
      '"12-Planet-envelope"',
      false,
    ])
  })

  test('that names another is answered', async () => {
    for (const tags of [
      '"11-Planet"',
      '"12-PlanetName"',
      '"12-Planet-envelope"',
      '12-Planet',
      '"12-Planet',
      '',
      'w/"12-Planet"',
      '"12-planet"',
    ]) {
      expect([tags, await get(tags)]).toEqual([tags, [200, '"12-Planet"', true]])
    }
  })

  test('says nothing about a write', async () => {
    const { status } = await sky.request('PUT', '/planets/2', { json, headers: { 'If-None-Match': '*' } })
    expect(status).toBe(200)
  })
})

describe('If-Match', () => {
  const put = async (tags: string | string[], path = '/planets/2') => {
    const { status, body } = await sky.request('PUT', path, { json, headers: { 'If-Match': tags } })
    return status === 400 ? body.fault : status
  }

  test('that names the version lets the write happen, whatever the shape', async () => {
    for (const tags of [
      '"3-Planet"',
      '"3-PlanetName"',
      '"3-Planet-envelope"',
      '"3-"',
      '"1-Planet", "3-Planet"',
      '*',
      '"x", "3-y"',
    ]) {
      expect([tags, await put(tags)]).toEqual([tags, 200])
    }
    expect(await put(['"1-Planet"', '"3-Planet"'])).toBe(200)
  })

  test('that does not is a 412', async () => {
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

  test('that is no list of tags is a 400', async () => {
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

  test('is named in errors of its field', async () => {
    expect(await put('"1-a", "2-a", "3-a", "4-a"')).toMatch(/^If-Match: /)
  })

  test('cannot be said in the body', async () => {
    expect((await sky.request('PUT', '/planets/2', { json: { ...json, if_version: [1] } })).status).toBe(200)
  })
})

describe('a list of entity tags', () => {
  test('is read with what separates it', () => {
    expect(entityTags('"a"')).toEqual([{ weak: false, tag: 'a' }])
    expect(entityTags(' W/"a" ,, "b,c" , ')).toEqual([
      { weak: true, tag: 'a' },
      { weak: false, tag: 'b,c' },
    ])
    expect(entityTags('""')).toEqual([{ weak: false, tag: '' }])
    expect(entityTags('')).toBe(undefined)
    expect(entityTags('a')).toBe(undefined)
  })

  test('costs its length, however it is made up', () => {
    const started = performance.now()
    expect(entityTags(`,${' '.repeat(200_000)}x`)).toBe(undefined)
    expect(performance.now() - started).toBeLessThan(1000)
  })
})
