import { describe, expect, test } from 'vitest'
import { shareTestServer, startTestServer, type TestServer } from './harness.ts'
import { createBook, createItem, createUser, openDatabase } from './records.ts'

const at = (day: number) => new Date(`2030-01-0${day}T00:00:00.000Z`)
const user = { password_hash: null, role: 'user', status: 'active' }

// Attributes such as created_at are not writable through the API, so the test writes to the database.
async function seedUsers(server: TestServer) {
  await using database = await openDatabase(server)
  const rows = [
    { name: 'b', email: 'd@x.yz', role: 'user', status: 'active', age: 30, created_at: at(2), updated_at: at(4) },
    { name: 'a', email: 'c@x.yz', role: 'admin', status: 'inactive', age: null, created_at: at(1), updated_at: at(4) },
    { name: 'b', email: 'b@x.yz', role: 'user', status: 'inactive', age: null, created_at: at(2), updated_at: at(3) },
    { name: 'c', email: 'a@x.yz', role: 'admin', status: 'active', age: 30, created_at: at(3), updated_at: at(3) },
  ]
  await database.write((tx) =>
    tx.users.write(rows.map((row) => ({ create: { ...user, ...row, name_key: row.name, email_key: row.email } }))),
  )
}

async function seedBooks(server: TestServer) {
  await createBook(server, { title: 'b', author: 'y', published_date: '2000-01-01' })
  await createBook(server, { title: 'a', author: 'z', published_date: '1999-12-31' })
  await createBook(server, { title: 'b', author: 'x', published_date: '2000-01-01' })
  await createBook(server, { title: 'c', author: 'z', published_date: '0999-01-01' })
}

async function seedItems(server: TestServer) {
  await createItem(server, { name: 'b', price: 10, category: 'x' })
  await createItem(server, { name: 'a', price: 9.5 })
  await createItem(server, { name: 'b', price: 100 })
  await createItem(server, { name: 'c', price: 9.5, category: 'w' })
}

interface Row {
  id: number
}

for (const [path, seed, orders] of [
  [
    '/users',
    seedUsers,
    {
      id_asc: [1, 2, 3, 4],
      id_desc: [4, 3, 2, 1],
      name_asc: [2, 1, 3, 4],
      name_desc: [4, 1, 3, 2],
      username_asc: [2, 1, 3, 4],
      username_desc: [4, 1, 3, 2],
      email_asc: [4, 3, 2, 1],
      email_desc: [1, 2, 3, 4],
      role_asc: [2, 4, 1, 3],
      role_desc: [1, 3, 2, 4],
      status_asc: [1, 4, 2, 3],
      status_desc: [2, 3, 1, 4],
      age_asc: [2, 3, 1, 4],
      age_desc: [1, 4, 2, 3],
      created_at_asc: [2, 1, 3, 4],
      created_at_desc: [4, 1, 3, 2],
      updated_at_asc: [3, 4, 1, 2],
      updated_at_desc: [1, 2, 3, 4],
    },
  ],
  [
    '/books',
    seedBooks,
    {
      id_asc: [1, 2, 3, 4],
      id_desc: [4, 3, 2, 1],
      title_asc: [2, 1, 3, 4],
      title_desc: [4, 1, 3, 2],
      author_asc: [3, 1, 2, 4],
      author_desc: [2, 4, 1, 3],
      published_date_asc: [4, 2, 1, 3],
      published_date_desc: [1, 3, 2, 4],
    },
  ],
  [
    '/items/',
    seedItems,
    {
      id_asc: [1, 2, 3, 4],
      id_desc: [4, 3, 2, 1],
      name_asc: [2, 1, 3, 4],
      name_desc: [4, 1, 3, 2],
      price_asc: [2, 4, 1, 3],
      price_desc: [3, 1, 2, 4],
      category_asc: [2, 3, 4, 1],
      category_desc: [1, 4, 2, 3],
    },
  ],
] as const) {
  describe(`C16 sort of ${path}`, () => {
    const server = shareTestServer(seed)

    test('defaults to id ascending', async () => {
      const { body } = await server().request('GET', path)
      expect(body.map(({ id }: Row) => id)).toEqual([1, 2, 3, 4])
    })

    test('accepts every returned attribute', async () => {
      const { body } = await server().request('GET', path)
      const attributes = new Set(Object.keys(orders).map((sort) => sort.replace(/_(asc|desc)$/, '')))
      for (const attribute of Object.keys(body[0])) expect(attributes).toContain(attribute)
    })

    for (const [sort, ids] of Object.entries(orders)) {
      test(`sort=${sort} orders ties by id ascending`, async () => {
        const { status, body } = await server().request('GET', `${path}?sort=${sort}`)
        expect(status).toBe(200)
        expect(body.map(({ id }: Row) => id)).toEqual(ids)
      })

      for (const limit of [1, 2, 3]) {
        test(`sort=${sort} is consistent across pages of ${limit}, by number and by cursor`, async () => {
          const paged: number[] = []
          for (let page = 1; page <= 4; page++) {
            const { body } = await server().request('GET', `${path}?sort=${sort}&limit=${limit}&page=${page}`)
            paged.push(...body.map(({ id }: Row) => id))
          }
          expect(paged).toEqual(ids)
          const walked: number[] = []
          for (let next = `${path}?sort=${sort}&limit=${limit}&after=`; next !== ''; ) {
            const { headers, body } = await server().request('GET', next)
            walked.push(...body.map(({ id }: Row) => id))
            next = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? ''
          }
          expect(walked).toEqual(ids)
        })
      }
    }
  })
}

describe('U21 sort in the other APIs of users', () => {
  const server = shareTestServer(seedUsers)

  test('accepts username_asc and username_desc at /api/users/', async () => {
    const ascending = await server().request('GET', '/api/users/?sort=username_asc')
    expect(ascending.body).toEqual([
      { username: 'a', email: 'c@x.yz' },
      { username: 'b', email: 'd@x.yz' },
      { username: 'b', email: 'b@x.yz' },
      { username: 'c', email: 'a@x.yz' },
    ])
    const descending = await server().request('GET', '/api/users/?sort=username_desc')
    expect(descending.body).toEqual([
      { username: 'c', email: 'a@x.yz' },
      { username: 'b', email: 'd@x.yz' },
      { username: 'b', email: 'b@x.yz' },
      { username: 'a', email: 'c@x.yz' },
    ])
  })

  test('accepts age_desc at /api/users', async () => {
    const { body } = await server().request('GET', '/api/users?sort=age_desc')
    expect(body.map(({ id }: Row) => id)).toEqual([1, 4, 2, 3])
  })
})

describe('C16 text sorts by code point', () => {
  const shuffled = ['😀', 'a', '\uFF5E', 'Z', 'é', 'A', '1', 'aa', 'z', 'É', ' ~'.trim()]
  const sorted = ['1', 'A', 'Z', 'a', 'aa', 'z', '~', 'É', 'é', '\uFF5E', '😀']

  for (const [path, field, create] of [
    [
      '/users',
      'name',
      (server: TestServer, name: string, n: number) => createUser(server, { name, email: `u${n}@x.yz` }),
    ],
    ['/books', 'title', (server: TestServer, title: string) => createBook(server, { title })],
    ['/books', 'author', (server: TestServer, author: string) => createBook(server, { author })],
    ['/items/', 'name', (server: TestServer, name: string) => createItem(server, { name })],
    ['/items/', 'category', (server: TestServer, category: string) => createItem(server, { category })],
  ] as const) {
    test(`for ${field} of ${path}, in both directions and by cursor`, async () => {
      await using server = await startTestServer()
      for (const [index, text] of shuffled.entries()) await create(server, text, index)
      const valuesOf = (body: Record<string, string>[]) => body.map((row) => row[field])
      expect(valuesOf((await server.request('GET', `${path}?sort=${field}_asc`)).body)).toEqual(sorted)
      expect(valuesOf((await server.request('GET', `${path}?sort=${field}_desc`)).body)).toEqual(sorted.toReversed())
      const walked: unknown[] = []
      for (let next = `${path}?sort=${field}_asc&limit=1&after=`; next !== ''; ) {
        const { headers, body } = await server.request('GET', next)
        walked.push(...valuesOf(body))
        next = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? ''
      }
      expect(walked).toEqual(sorted)
    })
  }

  test('for email, as it was written', async () => {
    await using server = await startTestServer()
    for (const email of ['b@x.yz', 'Z@x.yz', 'a@x.yz']) await createUser(server, { email })
    const { body } = await server.request('GET', '/users?sort=email_asc')
    expect(body.map(({ email }: { email: string }) => email)).toEqual(['Z@x.yz', 'a@x.yz', 'b@x.yz'])
  })
})
