import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'
import { createBook } from './records.ts'

const dune = { title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01' }

test('B7 a book has id, title, author and published_date, and the service assigns the id', async () => {
  await using server = await startTestServer()
  const { body } = await server.request('POST', '/books', { json: { ...dune, id: 77 } })
  expect(body).toEqual({ id: 1, title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01' })
})

test('B1 GET /books returns an array of books', async () => {
  await using server = await startTestServer()
  expect((await server.request('GET', '/books')).body).toEqual([])
  await createBook(server)
  await createBook(server, { title: 'Emma', author: 'Jane Austen', published_date: '1815-12-23' })
  const { status, body } = await server.request('GET', '/books')
  expect(status).toBe(200)
  expect(body).toEqual([
    { id: 1, title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01' },
    { id: 2, title: 'Emma', author: 'Jane Austen', published_date: '1815-12-23' },
  ])
})

test('B4 GET /books/{id} returns one book', async () => {
  await using server = await startTestServer()
  await createBook(server)
  const { status, body } = await server.request('GET', '/books/1')
  expect(status).toBe(200)
  expect(body).toEqual({ id: 1, title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01' })
})

test('B2 POST /books returns 201 and the book with its id', async () => {
  await using server = await startTestServer()
  const { status, body } = await server.request('POST', '/books', { json: dune })
  expect(status).toBe(201)
  expect(body).toEqual({ id: 1, title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01' })
})

test('B5 PUT /books/{id} returns the updated book', async () => {
  await using server = await startTestServer()
  await createBook(server)
  const { status, body } = await server.request('PUT', '/books/1', {
    json: { title: 'Emma', author: 'Jane Austen', published_date: '1815-12-23' },
  })
  expect(status).toBe(200)
  expect(body).toEqual({ id: 1, title: 'Emma', author: 'Jane Austen', published_date: '1815-12-23' })
  expect((await server.request('GET', '/books/1')).body).toEqual(body)
})

test('B6 DELETE /books/{id} removes the book and returns 204 without a body', async () => {
  await using server = await startTestServer()
  await createBook(server)
  const { status, body } = await server.request('DELETE', '/books/1')
  expect(status).toBe(204)
  expect(body).toBeUndefined()
  expect((await server.request('GET', '/books/1')).status).toBe(404)
})

for (const [method, json] of [['GET'], ['PUT', dune], ['DELETE']] as const) {
  test(`B10 ${method} /books/{id} for a book that does not exist returns 404`, async () => {
    await using server = await startTestServer()
    const { status, body } = await server.request(method, '/books/7', { json })
    expect(status).toBe(404)
    expect(body).toEqual({ message: 'Book not found' })
  })
}

for (const field of ['title', 'author', 'published_date'] as const) {
  for (const [method, path] of [
    ['POST', '/books'],
    ['PUT', '/books/1'],
  ] as const) {
    test(`C31 ${field} is required on ${method} ${path}`, async () => {
      await using server = await startTestServer()
      await createBook(server)
      const { [field]: _, ...json } = dune
      const { status, body } = await server.request(method, path, { json })
      expect(status).toBe(400)
      expect(body).toEqual({ message: `Missing required fields: ${field}` })
    })
  }
}
