import { expect, test } from 'vitest'
import { shareTestServer, startTestServer } from './harness.ts'
import { createBook, createItem, createUser } from './records.ts'

const shared = shareTestServer(async (server) => {
  await createUser(server, { name: 'Ada Lovelace', email: 'countess@example.com', age: 36 })
  await createUser(server, { name: 'Adam  Osborne', email: 'adam@osborne.example', age: 64 })
  await createUser(server, { name: 'ÉMILIE du Châtelet', email: 'emilie@example.org', role: 'admin' })
  await createUser(server, { name: '100% _real_ \\ "x"', email: 'odd@example.com' })
  await createBook(server, { title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01' })
  await createBook(server, { title: 'Frankenstein', author: 'Mary Shelley', published_date: '1818-01-01' })
  for (const price of [10, 20, 30]) await createItem(server, { name: `Lamp ${price}`, price, category: 'light' })
})

async function namesAt(path: string, name = 'name'): Promise<unknown[]> {
  const { status, body } = await shared().request('GET', path)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.map((record: Record<string, unknown>) => record[name])
}

test('C22 q finds words in any order and in any search field, ignoring case', async () => {
  expect(await namesAt('/api/users?q=ada')).toEqual(['Ada Lovelace', 'Adam  Osborne'])
  expect(await namesAt('/api/users?q=LOVELACE%20ada')).toEqual(['Ada Lovelace'])
  expect(await namesAt('/api/users?q=ada%20countess')).toEqual(['Ada Lovelace'])
  expect(await namesAt('/api/users?q=countess@example.com')).toEqual(['Ada Lovelace'])
  expect(await namesAt('/api/users?q=ch%C3%82telet%20%C3%A9milie')).toEqual(['ÉMILIE du Châtelet'])
  expect(await namesAt('/books?q=frank', 'title')).toEqual(['Dune', 'Frankenstein'])
  expect(await namesAt('/api/users?q=nosuch')).toEqual([])
})

test('C22 a word of two characters matches the beginning of a word, a longer one any part', async () => {
  expect(await namesAt('/api/users?q=lo')).toEqual(['Ada Lovelace'])
  expect(await namesAt('/api/users?q=ov')).toEqual([])
  expect(await namesAt('/api/users?q=ove')).toEqual(['Ada Lovelace'])
  expect(await namesAt('/api/users?q=os')).toEqual(['Adam  Osborne'])
})

test('C22 characters that are special in SQL are ordinary ones', async () => {
  expect(await namesAt('/api/users?q=100%25')).toEqual(['100% _real_ \\ "x"'])
  expect(await namesAt('/api/users?q=_real_')).toEqual(['100% _real_ \\ "x"'])
  expect(await namesAt('/api/users?q=%22x%22')).toEqual(['100% _real_ \\ "x"'])
  expect(await namesAt('/api/users?q=a__')).toEqual([])
  expect(await namesAt("/api/users?q='ada'")).toEqual([])
})

test('C22 q is combined with filters, sort, page, cursor and count', async () => {
  const { headers, body } = await shared().request(
    'GET',
    '/items?q=lamp&price_gte=20&sort=price_desc&limit=1&count=true',
  )
  expect(body.map(({ name }: { name: string }) => name)).toEqual(['Lamp 30'])
  expect(headers.get('x-total-count')).toBe('2')
  expect(headers.get('link')).toContain('q=lamp&price_gte=20&sort=price_desc&limit=1&count=true&page=2')
  expect(await namesAt('/items?q=lamp&price_gt=10&price_lte=20')).toEqual(['Lamp 20'])
  expect(await namesAt('/api/users?q=example&role=admin')).toEqual(['ÉMILIE du Châtelet'])
  const first = await shared().client.items.list.query({ q: 'lamp', limit: 2, after: '', sort: 'price_desc' })
  const second = await shared().client.items.list.query({
    q: 'lamp',
    limit: 2,
    after: first.next as string,
    sort: 'price_desc',
  })
  expect([...first.items, ...second.items].map(({ price }) => price)).toEqual([30, 20, 10])
})

test('C23 a contains filter searches one field', async () => {
  expect(await namesAt('/api/users?name_contains=ada')).toEqual(['Ada Lovelace', 'Adam  Osborne'])
  expect(await namesAt('/api/users?email_contains=ada')).toEqual(['Adam  Osborne'])
  expect(await namesAt('/books?title_contains=frank', 'title')).toEqual(['Frankenstein'])
  expect(await namesAt('/books?author_contains=frank&q=dune', 'title')).toEqual(['Dune'])
})

test('C17 range filters include or exclude their bound', async () => {
  expect(await namesAt('/users?age_gte=36&age_lte=36')).toEqual(['Ada Lovelace'])
  expect(await namesAt('/books?published_date_gte=1818-01-01&published_date_lte=1818-01-01', 'title')).toEqual([
    'Frankenstein',
  ])
  const [{ created_at }] = (await shared().request('GET', '/users?limit=1')).body
  expect(await namesAt(`/users?created_at_lt=${created_at}`)).toEqual([])
  expect((await namesAt(`/users?created_at_gte=${created_at}`)).length).toBe(4)
})

test('C17 a bound of whole numbers may be any number', async () => {
  expect(await namesAt('/users?age_gte=36.5')).toEqual(['Adam  Osborne'])
  expect(await namesAt('/users?age_lte=63.9')).toEqual(['Ada Lovelace'])
  expect(await namesAt('/users?age_gte=35.1&age_lte=64.9')).toEqual(['Ada Lovelace', 'Adam  Osborne'])
  expect(await namesAt('/users?age_gte=99999999999')).toEqual([])
  expect(await namesAt('/users?age_lte=99999999999')).toEqual(['Ada Lovelace', 'Adam  Osborne'])
  const { users } = await shared().client.users.list.query({ age_gte: -1e300, age_lte: 1e300 })
  expect(users).toHaveLength(2)
})

test('C17 the first and the last time are valid bounds, whatever their digits', async () => {
  for (const first of ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000001Z']) {
    expect((await namesAt(`/users?created_at_gte=${first}`)).length).toBe(4)
    expect(await namesAt(`/users?created_at_lt=${first}`)).toEqual([])
  }
  for (const last of ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.9999999Z']) {
    expect(await namesAt(`/users?created_at_gte=${last}`)).toEqual([])
    expect((await namesAt(`/users?created_at_lt=${last}`)).length).toBe(4)
  }
})

test('C22 a word of one character is a 400 that names q', async () => {
  const { status, body } = await shared().request('GET', '/items?q=lamp%20x')
  expect([status, body]).toEqual([400, { message: 'q: must be words of at least 2 characters' }])
})

test('C22 a search finds a record by its new text and no longer by the old one', async () => {
  await using server = await startTestServer()
  const { id } = await createItem(server, { name: 'Lamp' })
  const found = async (q: string) => (await server.request('GET', `/items?q=${q}`)).body.length
  expect(await found('lamp')).toBe(1)
  await server.request('PATCH', `/items/${id}`, { json: { name: 'Rug' } })
  expect([await found('lamp'), await found('rug')]).toEqual([0, 1])
  await server.request('DELETE', `/items/${id}`)
  expect(await found('rug')).toBe(0)
})

test('C22 two letters of a script without spaces match anywhere in a word, one is a 400', async () => {
  await using server = await startTestServer()
  for (const name of ['我爱北京天安门', '北 京', 'T恤衫', '스마트폰', 'ประเทศไทย', 'みかん'])
    await createItem(server, { name, price: 1 })
  const found = async (q: string) => {
    const { status, body } = await server.request('GET', `/items?${new URLSearchParams({ q })}`)
    return status === 200 ? body.map(({ name }: { name: string }) => name) : status
  }
  expect(await found('北京')).toEqual(['我爱北京天安门'])
  expect(await found('天安门')).toEqual(['我爱北京天安门'])
  expect(await found('安门 我爱')).toEqual(['我爱北京天安门'])
  expect(await found('T恤')).toEqual(['T恤衫'])
  expect(await found('트폰')).toEqual(['스마트폰'])
  expect(await found('ไท')).toEqual(['ประเทศไทย'])
  expect(await found('かん')).toEqual(['みかん'])
  expect(await found('京')).toBe(400)
  expect(await found('か\u3099')).toBe(400)
  expect(await found('\u3164\u3164')).toBe(400)
  expect(await found('i\u0307')).toBe(400)
})

test('C22 searches fold case fully and ignore how accents are composed', async () => {
  await using server = await startTestServer()
  for (const title of ['İstanbul', 'Straße', 'Οδυσσεύς', 'Ìlos', 'Jose\u0301', 'Jose', 'ﬁn'])
    await createBook(server, { title, author: 'x', published_date: '2026-01-02' })
  const found = async (title_contains: string) => {
    const { body } = await server.request('GET', `/books?${new URLSearchParams({ title_contains })}`)
    return body.map(({ title }: { title: string }) => title)
  }
  for (const q of ['istanbul', 'ISTANBUL', 'İSTANBUL', 'I\u0307stanbul']) expect(await found(q)).toEqual(['İstanbul'])
  for (const q of ['STRASSE', 'straße', 'STRAẞE']) expect(await found(q)).toEqual(['Straße'])
  for (const q of ['ΟΔΥΣΣΕΎΣ', 'οδυσσευ\u0301σ', 'δυσσεύς']) expect(await found(q)).toEqual(['Οδυσσεύς'])
  for (const q of ['i\u0307\u0300los', 'ìLOS']) expect(await found(q)).toEqual(['Ìlos'])
  for (const q of ['josé', 'JOSE\u0301']) expect(await found(q)).toEqual(['José'])
  expect(await found('jose')).toEqual(['Jose'])
  expect(await found('FIN')).toEqual(['ﬁn'])
})
