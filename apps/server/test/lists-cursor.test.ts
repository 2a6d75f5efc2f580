import { describe, expect, test } from 'vitest'
import { shareTestServer, startTestServer, type TestServer } from './harness.ts'
import { createItem, createUser, openDatabase } from './records.ts'

const SEEDED = 12
const day = (n: number) => new Date(Date.UTC(2030, 0, n))

/** Twelve records of each collection, with ties and nulls in every attribute that allows them. */
async function seed(server: TestServer) {
  await using database = await openDatabase(server)
  const rows = Array.from({ length: SEEDED }, (_, n) => n + 1)
  await database.write(async (tx) => {
    await tx.users.write(
      rows.map((n) => ({
        create: {
          name: `n${n % 4}`,
          name_key: `n${n % 4}`,
          email: `u${(n * 5) % 13}@x.yz`,
          email_key: `u${(n * 5) % 13}@x.yz`,
          password_hash: null,
          role: n % 3 === 0 ? 'admin' : 'user',
          status: n % 2 === 0 ? 'active' : 'inactive',
          age: n % 3 === 0 ? null : n % 4,
          created_at: day(n % 4),
          updated_at: day(n % 5),
        },
      })),
    )
    await tx.books.write(
      rows.map((n) => ({
        create: {
          title: `t${n % 4}`,
          title_key: `t${n % 4}`,
          author: `a${n % 3}`,
          author_key: `a${n % 3}`,
          published_date: `200${n % 5}-01-01`,
        },
      })),
    )
    await tx.items.write(
      rows.map((n) => ({
        create: {
          name: `n${n % 4}`,
          name_key: `n${n % 4}`,
          price: n % 5,
          category: n % 3 === 0 ? null : `c${n % 2}`,
        },
      })),
    )
  })
}

async function insertAndDelete(server: TestServer, path: string, step: number, deletedId: number) {
  const json = {
    '/users': { name: `n${step % 4}`, email: `new${step}@x.yz`, ...(step % 2 === 0 && { age: step % 4 }) },
    '/books': { title: `t${step % 4}`, author: `a${step % 3}`, published_date: `200${step % 5}-01-01` },
    '/items': { name: `n${step % 4}`, price: step % 5, category: step % 2 === 0 ? null : 'c1' },
  }[path]
  expect((await server.request('POST', path, { json })).status).toBe(201)
  await server.request('DELETE', `${path}/${deletedId}`)
}

for (const [path, attributes] of [
  ['/users', ['id', 'name', 'username', 'email', 'role', 'status', 'age', 'created_at', 'updated_at']],
  ['/books', ['id', 'title', 'author', 'published_date']],
  ['/items', ['id', 'name', 'price', 'category']],
] as const) {
  for (const sort of attributes.flatMap((attribute) => [`${attribute}_asc`, `${attribute}_desc`])) {
    test(`a walk of ${path} by ${sort} returns every remaining record once during inserts and deletes`, async () => {
      await using server = await startTestServer()
      await seed(server)
      const seen: number[] = []
      const deletedIds = new Set<number>()
      let step = 0
      for (let next = `${path}?sort=${sort}&limit=2&after=`; next !== ''; step++) {
        const { status, headers, body } = await server.request('GET', next)
        expect(status).toBe(200)
        seen.push(...body.map(({ id }: { id: number }) => id))
        next = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? ''
        // The deleted record may be before the cursor, after it, or the record of the cursor.
        const deleted = step % 2 === 0 ? (seen.at(-1) ?? 1) : ((step * 7) % SEEDED) + 1
        if (step < 6) {
          deletedIds.add(deleted)
          await insertAndDelete(server, path, step, deleted)
        }
      }
      expect(new Set(seen).size).toBe(seen.length)
      const remaining = Array.from({ length: SEEDED }, (_, n) => n + 1).filter((id) => !deletedIds.has(id))
      expect(remaining.length).toBeGreaterThan(4)
      for (const id of remaining) expect(seen).toContain(id)
    })
  }
}

describe('C19 a walk by cursor', () => {
  const server = shareTestServer(async (server) => {
    for (let n = 1; n <= 5; n++) await createItem(server, { name: `Item ${n}`, category: n < 3 ? 'x' : null })
  })

  test('starts with an empty after, and its links contain the cursor', async () => {
    const { headers, body } = await server().request('GET', '/items?limit=2&after=')
    expect(body.map(({ id }: { id: number }) => id)).toEqual([1, 2])
    expect(headers.get('link')).toMatch(
      /^<\/items\?limit=2&after=>; rel="first", <\/items\?limit=2&after=[\w%-]+>; rel="next"$/,
    )
  })

  test('ends without a next link', async () => {
    const { headers, body } = await server().request('GET', '/items?after=')
    expect(body).toHaveLength(5)
    expect(headers.get('link')).toBe('</items?after=>; rel="first"')
  })

  test('keeps the filters', async () => {
    const { headers } = await server().request('GET', '/items?category=x&limit=1&after=')
    const next = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? ''
    const { body } = await server().request('GET', next)
    expect(body).toEqual([{ id: 2, name: 'Item 2', price: 24.5, category: 'x' }])
    expect((await server().request('GET', next)).headers.get('link')).not.toContain('next')
  })

  test('counts on request', async () => {
    const { headers } = await server().request('GET', '/items?limit=2&after=&count=true')
    expect(headers.get('x-total-count')).toBe('5')
  })

  test('with page and after is a 400 that names after', async () => {
    const { headers } = await server().request('GET', '/items?limit=2&after=')
    const cursor = /after=([\w%-]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? ''
    const { status, body } = await server().request('GET', `/items?page=2&after=${cursor}`)
    expect(status).toBe(400)
    expect(body).toEqual({ message: expect.stringContaining('after') })
  })

  test('with the cursor of another sort is a 400 that names after', async () => {
    const { headers } = await server().request('GET', '/items?limit=2&sort=price_asc&after=')
    const cursor = /after=([\w%-]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? ''
    expect(cursor).not.toBe('')
    expect((await server().request('GET', `/items?sort=price_asc&after=${cursor}`)).status).toBe(200)
    for (const sort of ['price_desc', 'name_asc', 'id_asc']) {
      const { status, body } = await server().request('GET', `/items?sort=${sort}&after=${cursor}`)
      expect(status).toBe(400)
      expect(body).toEqual({ message: expect.stringContaining('after') })
    }
    expect((await server().request('GET', `/items?after=${cursor}`)).status).toBe(400)
  })

  for (const after of ['garbage', '%00', '%F0%9F%98%80', 'e30', 'W10', 'bnVsbA', 'MQ', 'A'.repeat(4097)]) {
    test(`with after=${after.slice(0, 20)} is a 400 that names after`, async () => {
      const { status, body } = await server().request('GET', `/items?after=${after}`)
      expect(status).toBe(400)
      expect(body).toEqual({ message: expect.stringContaining('after') })
    })
  }
})

describe('a forged cursor', () => {
  const server = shareTestServer(async (server) => {
    await createUser(server)
    await createItem(server)
  })
  const forged = (json: string) => Buffer.from(json).toString('base64url')

  for (const [path, sort, json] of [
    ['/items', 'id_asc', '["id_asc",1]'],
    ['/items', 'id_asc', '["id_asc",1,"1"]'],
    ['/items', 'id_asc', '["id_asc",1,1.5]'],
    ['/items', 'id_asc', '["id_asc",1,1e99]'],
    ['/items', 'id_asc', '["id_asc",1,null]'],
    ['/items', 'id_asc', '[1,1,1]'],
    ['/items', 'id_asc', '["id_asc",{"gt":0},1]'],
    ['/items', 'price_asc', '["price_asc","10",1]'],
    ['/items', 'price_asc', '["price_asc",null,1]'],
    ['/items', 'price_asc', '["price_asc",{"gt":0},1]'],
    ['/items', 'price_asc', '["price_asc",1e999,1]'],
    ['/items', 'price_desc', '["price_desc",-1e999,1]'],
    ['/items', 'name_asc', '["name_asc",5,1]'],
    ['/items', 'name_asc', '["name_asc",null,1]'],
    ['/items', 'name_asc', '["name_asc","a\\u0000b",1]'],
    ['/items', 'name_asc', '["name_asc","\\ud800",1]'],
    ['/items', 'category_asc', '["category_asc",["a"],1]'],
    ['/users', 'age_asc', '["age_asc","30",1]'],
    ['/users', 'age_asc', '["age_asc",1e99,1]'],
    ['/users', 'age_asc', '["age_asc",1.5,1]'],
    ['/users', 'created_at_asc', '["created_at_asc","2030-01-01",1]'],
    ['/users', 'created_at_asc', '["created_at_asc",8640000000000001,1]'],
    ['/users', 'created_at_asc', '["created_at_asc",1e999,1]'],
    ['/users', 'created_at_asc', '["created_at_asc",null,1]'],
  ] as const) {
    test(`${json} is a 400 that names after`, async () => {
      const { status, body } = await server().request('GET', `${path}?sort=${sort}&after=${forged(json)}`)
      expect(status).toBe(400)
      expect(Object.values(body)).toEqual([expect.stringContaining('after')])
    })
  }

  for (const [path, sort, json] of [
    ['/items', 'id_asc', '["id_asc",-5,-5]'],
    ['/items', 'price_asc', '["price_asc",1e308,1]'],
    ['/items', 'price_desc', '["price_desc",-1e308,1]'],
    ['/items', 'category_asc', '["category_asc",null,1]'],
    ['/users', 'age_desc', '["age_desc",2147483647,2147483647]'],
    ['/users', 'created_at_asc', '["created_at_asc",8640000000000000,1]'],
    ['/users', 'created_at_desc', '["created_at_desc",-8640000000000000,1]'],
    ['/users', 'updated_at_asc', '["updated_at_asc",0.5,1]'],
  ] as const) {
    test(`${json} causes no server error`, async () => {
      const { status } = await server().request('GET', `${path}?sort=${sort}&after=${forged(json)}`)
      expect([200, 400]).toContain(status)
    })
  }
})
