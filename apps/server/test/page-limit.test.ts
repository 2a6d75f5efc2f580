import { describe, expect, test } from 'vitest'
import { shareTestServer } from './harness.ts'
import { executeSql } from './records.ts'

const ITEMS = 100_002
const FILL = `INSERT INTO items (name, price, version)
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ITEMS}) SELECT 'Item', i, 1 FROM n`

describe('C20 a page number', () => {
  const server = shareTestServer((server) => executeSql(server, FILL))
  const idsOf = async (path: string) => (await server().request('GET', path)).body.map(({ id }: { id: number }) => id)

  test('reaches the first 100,000 records', async () => {
    expect(await idsOf('/items?limit=1&page=100001')).toEqual([100_001])
    expect(await idsOf('/items?limit=2&page=50001')).toEqual([100_001, 100_002])
    expect(await idsOf('/items?limit=1&page=100001&sort=price_desc')).toEqual([2])
  })

  for (const path of ['/items?limit=1&page=100002', '/items?limit=1000&page=102', '/items?page=2147483648']) {
    test(`over that limit is a 400 that points to the cursor: ${path}`, async () => {
      const { status, body } = await server().request('GET', path)
      expect([status, body]).toEqual([
        400,
        {
          message:
            'page: must be within the first 100,000 records; to read further, use a cursor: start with after= and follow the next links',
        },
      ])
    })
  }

  test('leads to a cursor where it ends, and to no last page beyond', async () => {
    const { headers } = await server().request('GET', '/items?limit=1&page=100001&count=true')
    const link = headers.get('Link') ?? ''
    const [, next = ''] = /<(\/items\?limit=1&count=true&after=[\w-]+)>; rel="next"$/.exec(link) ?? []
    expect(link).toBe(
      `</items?limit=1&count=true&page=1>; rel="first", </items?limit=1&count=true&page=100000>; rel="prev", <${next}>; rel="next"`,
    )
    expect(await idsOf(next)).toEqual([100_002])
    const before = await server().request('GET', '/items?limit=2&page=50000&count=true')
    expect(before.headers.get('Link')).toMatch(/page=50001>; rel="next", <[^>]*page=50001>; rel="last"$/)
  })

  test('has the same limit over tRPC', async () => {
    await expect(server().client.items.list.query({ page: 102, limit: 1000 })).rejects.toMatchObject({
      data: { code: 'BAD_REQUEST', fields: [{ field: 'page', message: expect.stringContaining('use a cursor') }] },
    })
  })

  test('past the end of a filtered list returns an empty page', async () => {
    expect(await idsOf('/items?page=2147483648&price_lt=50000')).toEqual([])
    expect(await idsOf('/items?page=2147483648&category=none')).toEqual([])
  })

  test('limit does not apply to the count of all records', async () => {
    const { items, next, total } = await server().client.items.list.query({ limit: 1, count: true, sort: 'id_desc' })
    expect([items[0]?.id, total, typeof next]).toEqual([100_002, 100_002, 'string'])
    const { headers } = await server().request('GET', '/items?price_lt=70001&count=true&limit=1')
    expect(headers.get('x-total-count')).toBe('70000')
  })
})
