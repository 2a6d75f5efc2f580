import { expect, test } from 'vitest'
import { createDocument } from '../src/document.ts'
import { startTestServer } from './harness.ts'
import { createBook, createItem, createUser } from './records.ts'

test('C24 fields picks the fields of lists and single records of every collection', async () => {
  await using server = await startTestServer()
  await createUser(server, { name: 'Ada', email: 'ada@example.com' })
  await createBook(server, { title: 'Dune' })
  await createItem(server, { name: 'Lamp', price: 24.5 })
  for (const [path, record] of [
    ['/api/users?fields=role,name', [{ name: 'Ada', role: 'user' }]],
    ['/users?fields=status', [{ status: 'active' }]],
    ['/api/users/?fields=username', [{ username: 'Ada' }]],
    ['/api/users/1?fields=id', { id: 1 }],
    ['/users/1?fields=age,id', { id: 1, age: null }],
    ['/api/users/1/?fields=email', { email: 'ada@example.com' }],
    ['/books?fields=title', [{ title: 'Dune' }]],
    ['/books/1?fields=title', { title: 'Dune' }],
    ['/items?fields=price', [{ price: 24.5 }]],
    ['/items/1?fields=name,id', { id: 1, name: 'Lamp' }],
  ] as const) {
    const { status, body } = await server.request('GET', path)
    expect([path, status, body]).toEqual([path, 200, record])
  }
  const { body } = await server.request('GET', '/users/1?fields=created_at&envelope=true')
  expect(body.data).toEqual({ user: { created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) } })
})

test('C24 fields works with filters, sorts and pages by attributes that are not picked', async () => {
  await using server = await startTestServer()
  for (const [name, price] of [
    ['Lamp', 3],
    ['Rug', 1],
    ['Vase', 2],
  ] as const)
    await createItem(server, { name, price })
  let path = '/items?fields=name&sort=price_asc&price_lt=3&limit=1&after='
  const names: unknown[] = []
  for (;;) {
    const { headers, body } = await server.request('GET', path)
    names.push(...body)
    const next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
    if (next === undefined) break
    expect(next).toContain('fields=name&')
    path = next
  }
  expect(names).toEqual([{ name: 'Rug' }, { name: 'Vase' }])
})

test('C24 other names get a 400 that lists the fields', async () => {
  await using server = await startTestServer()
  await createItem(server)
  for (const path of ['/items?fields=version', '/items/1?fields=name,password']) {
    const { status, body } = await server.request('GET', path)
    expect([status, body]).toEqual([
      400,
      { message: 'fields must be one or more of id, name, price and category, separated by commas' },
    ])
  }
  expect((await server.request('GET', '/api/users?fields=password')).body).toEqual({
    error: 'fields must be one or more of id, name, email and role, separated by commas',
  })
})

test('C24 the document says of each operation with the parameter that its answers can lack required fields', () => {
  const operations = Object.values(createDocument().paths as Record<string, Record<string, Stated>>).flatMap((item) =>
    Object.values(item),
  )
  const pickable = operations.filter(({ parameters = [] }) => parameters.some(({ name }) => name === 'fields'))
  expect(pickable.map(({ operationId }) => operationId)).toEqual(
    expect.arrayContaining(['listUsers', 'getUser', 'listBooks', 'getBook', 'listItems', 'getItem']),
  )
  const text = 'With `fields`, records have only these, and lack others that their schema requires.'
  for (const one of operations) {
    expect([one.operationId, one.responses['200']?.description.endsWith(text) ?? false]).toEqual([
      one.operationId,
      pickable.includes(one),
    ])
  }
})

interface Stated {
  operationId: string
  parameters?: { name: string }[]
  responses: Record<string, { description: string }>
}

test('C40 the ETag of picked fields is one of its own, and valid in If-Match', async () => {
  await using server = await startTestServer()
  await createItem(server)
  const etag = (await server.request('GET', '/items/1?fields=name')).headers.get('etag') ?? ''
  expect(etag).toMatch(/^"1-Item\.[0-9a-f]{6}-name"$/)
  const headers = { 'If-None-Match': etag }
  expect((await server.request('GET', '/items/1?fields=name', { headers })).status).toBe(304)
  expect((await server.request('GET', '/items/1', { headers })).status).toBe(200)
  const change = { json: { price: 1 }, headers: { 'If-Match': etag } }
  expect((await server.request('PATCH', '/items/1', change)).status).toBe(200)
  expect((await server.request('PATCH', '/items/1', change)).status).toBe(412)
})
