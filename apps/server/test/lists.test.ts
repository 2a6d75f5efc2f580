import { describe, expect, test } from 'vitest'
import { shareTestServer, startTestServer, type TestServer } from './harness.ts'
import { createBook, createItem, createUser, someUsers } from './records.ts'

interface WithId {
  id: number
}

/** The ids of a list, in its order. */
async function idsOf(server: TestServer, path: string): Promise<number[]> {
  const { status, body } = await server.request('GET', path)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.map(({ id }: WithId) => id)
}

async function createUsers(server: TestServer, count: number) {
  expect((await server.request('POST', '/api/users/bulk', { json: someUsers(count) })).status).toBe(201)
}

const listPaths = ['/api/users', '/users', '/api/users/', '/books', '/items/']

describe('C15 page and limit', () => {
  const server = shareTestServer(async (server) => {
    await createUsers(server, 5)
    for (let n = 1; n <= 5; n++) {
      await createBook(server, { title: `Book ${n}` })
      await createItem(server, { name: `Item ${n}` })
    }
  })

  for (const [path, second] of [
    [
      '/api/users',
      [
        { id: 3, name: 'User 3', email: 'user3@example.com', role: 'user' },
        { id: 4, name: 'User 4', email: 'user4@example.com', role: 'user' },
      ],
    ],
    [
      '/api/users/',
      [
        { username: 'User 3', email: 'user3@example.com' },
        { username: 'User 4', email: 'user4@example.com' },
      ],
    ],
    [
      '/books',
      [
        { id: 3, title: 'Book 3', author: 'Frank Herbert', published_date: '1965-08-01' },
        { id: 4, title: 'Book 4', author: 'Frank Herbert', published_date: '1965-08-01' },
      ],
    ],
    [
      '/items/',
      [
        { id: 3, name: 'Item 3', price: 24.5, category: null },
        { id: 4, name: 'Item 4', price: 24.5, category: null },
      ],
    ],
  ] as const) {
    test(`page is the page number and limit the number of records per page: ${path}`, async () => {
      const { status, body } = await server().request('GET', `${path}?page=2&limit=2`)
      expect(status).toBe(200)
      expect(body).toEqual(second)
    })
  }

  test('pages have no gaps and no overlaps', async () => {
    expect(await idsOf(server(), '/users?limit=2')).toEqual([1, 2])
    expect(await idsOf(server(), '/users?limit=2&page=2')).toEqual([3, 4])
    expect(await idsOf(server(), '/users?limit=2&page=3')).toEqual([5])
  })

  for (const path of listPaths) {
    for (const page of ['2', '7', '2147483648', '99999999999999999999']) {
      test(`a page past the end is an empty array: ${path}?page=${page}`, async () => {
        const { status, body } = await server().request('GET', `${path}?page=${page}&limit=1000`)
        expect(status).toBe(200)
        expect(body).toEqual([])
      })
    }

    for (const [name, value] of [
      ['page', '0'],
      ['page', '-1'],
      ['page', '1e3'],
      ['page', '%2B1'],
      ['page', '+1'],
      ['page', '%201'],
      ['page', '1%20'],
      ['page', '1.5'],
      ['page', 'abc'],
      ['page', '0x1'],
      ['page', ''],
      ['limit', '0'],
      ['limit', '-1'],
      ['limit', '1.5'],
      ['limit', '1e3'],
      ['limit', 'all'],
      ['limit', ''],
      ['sort', ''],
      ['sort', 'id'],
      ['sort', 'id_ASC'],
      ['sort', 'password_asc'],
      ['sort', 'version_asc'],
      ['sort', '__proto___asc'],
      ['count', '1'],
      ['count', ''],
      ['after', 'garbage'],
      ['colour', 'red'],
      ['Page', '1'],
    ] as const) {
      test(`${path}?${name}=${value} is a 400 that names the parameter`, async () => {
        const { status, body } = await server().request('GET', `${path}?${name}=${value}`)
        expect(status).toBe(400)
        const expected = expect.stringContaining(name)
        expect(body).toEqual(path.includes('users') ? { error: expected } : { message: expected })
      })
    }

    for (const query of ['page=1&page=2', 'page=1&page=1', 'limit=1&limit=1', 'sort=id_asc&sort=id_desc']) {
      test(`C18 ${path}?${query} is a 400 that names the repeated parameter`, async () => {
        const { status, body } = await server().request('GET', `${path}?${query}`)
        expect(status).toBe(400)
        const expected = expect.stringContaining(query.split('=')[0] ?? '')
        expect(body).toEqual(path.includes('users') ? { error: expected } : { message: expected })
      })
    }

    test(`C19 ${path}: page cannot be combined with after`, async () => {
      expect((await server().request('GET', `${path}?page=1&after=`)).status).toBe(400)
    })
  }

  for (const [path, name] of [
    ['/books', 'category'],
    ['/books', 'role'],
    ['/items/', 'role'],
    ['/items/', 'age'],
    ['/api/users', 'category'],
    ['/users', 'price_lt'],
  ]) {
    test(`C18 ${path} does not accept ${name}`, async () => {
      const { status, body } = await server().request('GET', `${path}?${name}=1`)
      expect(status).toBe(400)
      expect(Object.values(body)).toEqual([expect.stringContaining(name ?? '')])
    })
  }

  for (const path of ['/users/1', '/books/1', '/items/1', '/api/users/1/']) {
    test(`C18 GET ${path} accepts no unknown query parameter`, async () => {
      const { status, body } = await server().request('GET', `${path}?colour=red`)
      expect(status).toBe(400)
      expect(Object.values(body)).toEqual([expect.stringContaining('colour')])
    })
  }
})

describe('C15 limit', () => {
  const server = shareTestServer(async (server) => {
    await createUsers(server, 1000)
    await createUser(server)
  })

  test('defaults to 100, and page to 1', async () => {
    const ids = await idsOf(server(), '/users')
    expect(ids).toHaveLength(100)
    expect([ids[0], ids[99]]).toEqual([1, 100])
    expect(await idsOf(server(), '/users?page=2')).toEqual(Array.from({ length: 100 }, (_, index) => 101 + index))
  })

  for (const [limit, count] of [
    ['1', 1],
    ['999', 999],
    ['1000', 1000],
    ['1001', 1000],
    ['5000', 1000],
    ['99999999999999999999', 1000],
  ] as const) {
    test(`limit=${limit} returns ${count} of 1,001 records`, async () => {
      expect(await idsOf(server(), `/users?limit=${limit}`)).toHaveLength(count)
    })
  }

  test('over 1,000 counts pages like 1,000', async () => {
    expect(await idsOf(server(), '/users?limit=5000&page=2')).toEqual([1001])
  })
})

describe('C17 filters', () => {
  const server = shareTestServer(async (server) => {
    await createUser(server, { email: 'a@example.com', role: 'admin', status: 'active', age: 30 })
    await createUser(server, { email: 'b@example.com', role: 'user', status: 'active', age: 30 })
    await createUser(server, { email: 'c@example.com', role: 'user', status: 'inactive', age: 0 })
    await createUser(server, { email: 'd@example.com', role: 'admin', status: 'inactive' })
    await createItem(server, { name: 'A', price: 10, category: 'x' })
    await createItem(server, { name: 'B', price: 10.01, category: 'X' })
    await createItem(server, { name: 'C', price: 0, category: 'x' })
    await createItem(server, { name: 'D', price: 20 })
  })

  for (const [query, ids] of [
    ['role=admin', [1, 4]],
    ['role=user', [2, 3]],
    ['status=active', [1, 2]],
    ['status=inactive', [3, 4]],
    ['age=30', [1, 2]],
    ['age=0', [3]],
    ['age=31', []],
    ['role=user&status=active&age=30', [2]],
    ['role=admin&sort=id_desc', [4, 1]],
  ] as const) {
    test(`role, status and age are equality filters of users: ${query}`, async () => {
      expect(await idsOf(server(), `/api/users?${query}`)).toEqual(ids)
      expect(await idsOf(server(), `/users?${query}`)).toEqual(ids)
      const emails = ids.map((id) => `${'-abcd'[id]}@example.com`)
      const { body } = await server().request('GET', `/api/users/?${query}`)
      expect(body.map(({ email }: { email: string }) => email)).toEqual(emails)
    })
  }

  for (const [query, ids] of [
    ['category=x', [1, 3]],
    ['category=X', [2]],
    ['category=y', []],
    ['category=%20x%20', [1, 3]],
  ] as const) {
    test(`category is an equality filter of items: ${query}`, async () => {
      expect(await idsOf(server(), `/items/?${query}`)).toEqual(ids)
    })
  }

  for (const [query, ids] of [
    ['price_lt=10', [3]],
    ['price_lt=10.01', [1, 3]],
    ['price_lt=10.02', [1, 2, 3]],
    ['price_lt=0', []],
    ['price_lt=-1', []],
    ['price_lt=20.5', [1, 2, 3, 4]],
    ['price_lt=15&category=x', [1, 3]],
  ] as const) {
    test(`I12 price_lt is strictly below the value: ${query}`, async () => {
      expect(await idsOf(server(), `/items/?${query}`)).toEqual(ids)
    })
  }

  for (const [path, query] of [
    ['/api/users', 'role=%00'],
    ['/api/users', 'status=a%00'],
    ['/api/users', 'age=old'],
    ['/api/users', 'age=151'],
    ['/api/users', 'age=-1'],
    ['/api/users', 'age=1.5'],
    ['/api/users', 'age='],
    ['/items/', 'price_lt=cheap'],
    ['/items/', 'price_lt='],
    ['/items/', 'price_lt=01'],
    ['/items/', 'category=%00'],
  ] as const) {
    test(`${path}?${query.slice(0, 20)} is a 400 that names the filter`, async () => {
      const { status, body } = await server().request('GET', `${path}?${query}`)
      expect(status).toBe(400)
      expect(Object.values(body)).toEqual([expect.stringContaining(query.split('=')[0] ?? '')])
    })
  }

  for (const path of [
    '/api/users?role',
    '/api/users/?status',
    '/users?email',
    '/books?author',
    '/items/?category',
    '/api/audit?resource',
    '/api/audit?actor',
    '/api/audit?procedure',
  ]) {
    test(`C17 ${path} takes 1,000 characters, which fit in a URL, and names the limit beyond`, async () => {
      const longest = encodeURIComponent('\u{1d11e}').repeat(1000)
      expect(await idsOf(server(), `${path}=${longest}`)).toEqual([])
      const { status, body } = await server().request('GET', `${path}=${longest}a`)
      expect(status).toBe(400)
      expect(JSON.stringify(body)).toContain(`${path.split('?')[1]}: must be text of at most 1000 characters`)
    })
  }

  test('C21 the total counts the matching records', async () => {
    const { headers } = await server().request('GET', '/users?role=admin&limit=1&count=true')
    expect(headers.get('x-total-count')).toBe('2')
  })
})

describe('C21 Link and X-Total-Count', () => {
  const server = shareTestServer((server) => createUsers(server, 5))

  for (const [sent, link] of [
    ['/users', '</users?page=1>; rel="first"'],
    ['/users?limit=2', '</users?limit=2&page=1>; rel="first", </users?limit=2&page=2>; rel="next"'],
    [
      '/users?limit=2&page=2',
      '</users?limit=2&page=1>; rel="first", </users?limit=2&page=1>; rel="prev", </users?limit=2&page=3>; rel="next"',
    ],
    ['/users?limit=2&page=3', '</users?limit=2&page=1>; rel="first", </users?limit=2&page=2>; rel="prev"'],
    ['/users?limit=5', '</users?limit=5&page=1>; rel="first"'],
    [
      '/users?limit=2&count=true',
      '</users?limit=2&count=true&page=1>; rel="first", </users?limit=2&count=true&page=2>; rel="next", </users?limit=2&count=true&page=3>; rel="last"',
    ],
    [
      '/users?limit=5&count=true',
      '</users?limit=5&count=true&page=1>; rel="first", </users?limit=5&count=true&page=1>; rel="last"',
    ],
    [
      '/api/users/?sort=name_desc&status=active&limit=4',
      '</api/users/?sort=name_desc&status=active&limit=4&page=1>; rel="first", </api/users/?sort=name_desc&status=active&limit=4&page=2>; rel="next"',
    ],
    ['/books?count=true', '</books?count=true&page=1>; rel="first", </books?count=true&page=1>; rel="last"'],
  ] as const) {
    test(`${sent} has the expected Link`, async () => {
      const { headers } = await server().request('GET', sent)
      expect(headers.get('link')).toBe(link)
    })
  }

  test('X-Total-Count and last are present only with count=true', async () => {
    for (const path of ['/users', '/users?count=false']) {
      const { headers } = await server().request('GET', path)
      expect(headers.get('x-total-count')).toBeNull()
      expect(headers.get('link')).not.toContain('last')
    }
    const { headers } = await server().request('GET', '/users?count=true&page=9&limit=2')
    expect(headers.get('x-total-count')).toBe('5')
    expect((await server().request('GET', '/items?count=true')).headers.get('x-total-count')).toBe('0')
  })

  test('next leads through all pages to the end', async () => {
    const seen: number[] = []
    for (let path = '/users?limit=2'; path !== ''; ) {
      const { headers, body } = await server().request('GET', path)
      seen.push(...body.map(({ id }: WithId) => id))
      path = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? ''
    }
    expect(seen).toEqual([1, 2, 3, 4, 5])
  })
})

test('the list of an empty collection is an empty array', async () => {
  await using server = await startTestServer()
  for (const path of listPaths) expect((await server.request('GET', path)).body).toEqual([])
})
