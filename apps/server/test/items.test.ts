import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'
import { createItem } from './records.ts'

test('I8 an item has a name, a floating-point price and an integer id', async () => {
  await using server = await startTestServer()
  await createItem(server, { name: 'Lamp', price: 0.1 })
  expect((await server.request('GET', '/items/1')).body).toEqual({ id: 1, name: 'Lamp', price: 0.1, category: null })
})

for (const field of ['name', 'price'] as const) {
  for (const [method, path] of [
    ['POST', '/items/'],
    ['PUT', '/items/1'],
  ] as const) {
    test(`C31 ${field} is required on ${method} ${path}`, async () => {
      await using server = await startTestServer()
      await createItem(server)
      const { [field]: _, ...json } = { name: 'Lamp', price: 24.5 }
      const { status, body } = await server.request(method, path, { json })
      expect(status).toBe(400)
      expect(body).toEqual({ message: `Missing required fields: ${field}` })
    })
  }
}

test('I2 item creation returns an object with the single key item', async () => {
  await using server = await startTestServer()
  const { body } = await server.request('POST', '/items/', { json: { name: 'Lamp', price: 24.5 } })
  expect(Object.keys(body)).toEqual(['item'])
})

test('I4 GET /items/{item_id} returns the item', async () => {
  await using server = await startTestServer()
  await createItem(server, { category: 'lighting' })
  const { status, body } = await server.request('GET', '/items/1')
  expect(status).toBe(200)
  expect(body).toEqual({ id: 1, name: 'Lamp', price: 24.5, category: 'lighting' })
})

test('I2 POST /items/ returns 201 and the created item under the key item', async () => {
  await using server = await startTestServer()
  const { status, body } = await server.request('POST', '/items/', { json: { name: 'Lamp', price: 24.5 } })
  expect(status).toBe(201)
  expect(body).toEqual({ item: { id: 1, name: 'Lamp', price: 24.5, category: null } })
})

test('I5, I11 PUT /items/{item_id} returns the updated item', async () => {
  await using server = await startTestServer()
  await createItem(server, { category: 'lighting' })
  const { status, body } = await server.request('PUT', '/items/1', { json: { name: 'Chair', price: 80 } })
  expect(status).toBe(200)
  expect(body).toEqual({ id: 1, name: 'Chair', price: 80, category: null })
  expect((await server.request('GET', '/items/1')).body).toEqual(body)
})

for (const [field, value] of [
  ['name', 'Chair'],
  ['price', 12.25],
  ['category', 'seats'],
] as const) {
  test(`I6 PATCH /items/{item_id} changes only ${field} and returns the updated item`, async () => {
    await using server = await startTestServer()
    await createItem(server, { category: 'lighting' })
    const { status, body } = await server.request('PATCH', '/items/1', { json: { [field]: value } })
    expect(status).toBe(200)
    expect(body).toEqual({ id: 1, name: 'Lamp', price: 24.5, category: 'lighting', [field]: value })
    expect((await server.request('GET', '/items/1')).body).toEqual(body)
  })
}

test('I7 DELETE /items/{item_id} removes the item and returns a message', async () => {
  await using server = await startTestServer()
  await createItem(server)
  const { status, body } = await server.request('DELETE', '/items/1')
  expect(status).toBe(200)
  expect(body).toEqual({ message: expect.stringMatching(/./) })
  expect((await server.request('GET', '/items/1')).status).toBe(404)
})

for (const [method, json] of [
  ['GET'],
  ['PUT', { name: 'Lamp', price: 24.5 }],
  ['PATCH', { price: 24.5 }],
  ['DELETE'],
] as const) {
  test(`I13 ${method} /items/{item_id} for an item that does not exist returns 404`, async () => {
    await using server = await startTestServer()
    const { status, body } = await server.request(method, '/items/7', { json })
    expect(status).toBe(404)
    expect(body).toEqual({ message: 'Item not found' })
  })
}
