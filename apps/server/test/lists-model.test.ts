import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seedOfRun } from './fuzz/random.ts'
import { startTestServer, type TestServer } from './harness.ts'

type Row = Record<string, string | number | null> & { id: number }

/** A family of records as its list is asked for them. */
interface Family {
  /** Where records are made, and the key of the record in the answer, where there is one. */
  create: string
  createdUnder?: string
  /** The doors that list them, with the attributes each shows by the attribute it takes them from. */
  doors: Record<string, Record<string, string>>
  sortable: string[]
  record: fc.Arbitrary<Record<string, unknown>>
  filters: Record<string, (row: Row, value: string) => boolean>
  filterValues: Record<string, string[]>
}

// Where UTF-16 units, bytes and code points part: U+FFFF stands before U+1F600, though its unit is larger.
const text = fc.constantFrom(
  'a',
  'A',
  'aa',
  'é',
  'e\u0301',
  'ß',
  'Z',
  '\uffff',
  '\u{1f600}',
  '\u{1f600}a',
  '漢',
  '%',
  '_',
  "'",
)
const equals = (name: string) => (row: Row, value: string) => String(row[name]) === value
const same = (...names: string[]) => Object.fromEntries(names.map((name) => [name, name]))

const USER = ['id', 'name', 'email', 'role', 'status', 'age', 'created_at', 'updated_at']
const families: Record<string, Family> = {
  users: {
    create: '/users',
    doors: {
      '/api/users': same('id', 'name', 'email', 'role'),
      '/users': same(...USER),
      '/api/users/': { username: 'name', email: 'email' },
    },
    sortable: ['username', ...USER],
    record: fc.record({
      name: text,
      email: fc.uuid().map((uuid) => `${uuid}@example.com`),
      role: fc.constantFrom('admin', 'user'),
      status: fc.constantFrom('active', 'inactive'),
      age: fc.constantFrom(null, null, 0, 9, 10, 150),
    }),
    filters: { role: equals('role'), status: equals('status'), age: equals('age') },
    filterValues: { role: ['admin', 'user'], status: ['active', 'inactive'], age: ['0', '9', '10', '77'] },
  },
  books: {
    create: '/books',
    doors: { '/books': same('id', 'title', 'author', 'published_date') },
    sortable: ['id', 'title', 'author', 'published_date'],
    record: fc.record({
      title: text,
      author: text,
      published_date: fc.constantFrom('0001-01-01', '1969-03-01', '1969-12-31', '2024-02-29', '9999-12-31'),
    }),
    filters: {},
    filterValues: {},
  },
  items: {
    create: '/items/',
    createdUnder: 'item',
    doors: { '/items/': same('id', 'name', 'price', 'category'), '/items': same('id', 'name', 'price', 'category') },
    sortable: ['id', 'name', 'price', 'category'],
    record: fc.record({
      name: text,
      price: fc.constantFrom(0, 5e-324, 0.1, 0.1 + 0.2, 0.3, 9, 10, 1e12),
      category: fc.oneof(fc.constant(null), text),
    }),
    filters: { category: equals('category'), price_lt: (row, value) => (row.price as number) < Number(value) },
    filterValues: {
      category: ['a', 'A', '\u{1f600}', '\uffff', '%', 'none'],
      price_lt: ['0', '0.3', '10', '1000000000001'],
    },
  },
}

interface Question {
  door: string
  sort?: string | undefined
  limit: number
  /** A page number; without one, the list is walked by cursor. */
  page?: number | undefined
  filters: [string, string][]
  count: boolean
}

for (const [noun, family] of Object.entries(families)) {
  test(`${noun}: every combination of filters, order, page, cursor and count gives what a plain array gives`, async () => {
    const questions = fc.array(questionOf(family), { minLength: 15, maxLength: 15 })
    const records = fc.array(family.record, { maxLength: 30 })
    const holds = fc.asyncProperty(records, questions, async (records, questions) => {
      await using server = await startTestServer()
      const rows: Row[] = []
      for (const json of records) {
        const { status, body } = await server.request('POST', family.create, { json })
        expect(status).toBe(201)
        const row: Row = family.createdUnder === undefined ? body : body[family.createdUnder]
        expect(row).toMatchObject(json)
        rows.push(row)
      }
      for (const question of questions) await ask(server, family, rows, question)
    })
    await fc.assert(holds, { numRuns: 15, seed: seedOfRun() })
  })
}

function questionOf({ doors, sortable, filterValues }: Family): fc.Arbitrary<Question> {
  const filters = Object.entries(filterValues).map(([name, values]) =>
    fc.option(
      fc.constantFrom(...values).map((value): [string, string] => [name, value]),
      { nil: undefined, freq: 1 },
    ),
  )
  const sorts = sortable.flatMap((attribute) => [`${attribute}_asc`, `${attribute}_desc`])
  return fc.record({
    door: fc.constantFrom(...Object.keys(doors)),
    sort: fc.option(fc.constantFrom(...sorts), { nil: undefined }),
    limit: fc.constantFrom(1, 2, 3, 7, 29, 30, 31, 1000, 5000),
    page: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined, freq: 1 }),
    filters: fc.tuple(...filters).map((chosen) => chosen.filter((filter) => filter !== undefined)),
    count: fc.boolean(),
  })
}

async function ask(server: TestServer, family: Family, rows: Row[], question: Question): Promise<void> {
  const { door, sort = 'id_asc', limit, page, filters, count } = question
  const expected = rows
    .filter((row) => filters.every(([name, value]) => family.filters[name]?.(row, value)))
    .sort(orderBy(sort))
    .map((row) => shown(row, family.doors[door] ?? {}))
  const parameters = new URLSearchParams([
    ...filters,
    ['limit', String(limit)],
    ...(question.sort === undefined ? [] : [['sort', question.sort]]),
    ...(count ? [['count', 'true']] : []),
  ] as [string, string][])

  const size = Math.min(limit, 1000)
  const walked: unknown[] = []
  let next: string | undefined = `${door}?${parameters}&${page === undefined ? 'after=' : `page=${page}`}`
  for (let at = page ?? 1; next !== undefined; at++) {
    const { status, headers, body } = await server.request('GET', next)
    expect(status).toBe(200)
    expect(body).toEqual(expected.slice((at - 1) * size, at * size))
    expect(headers.get('x-total-count')).toBe(count ? String(expected.length) : null)
    const links = linksOf(headers)
    expect(links.prev !== undefined).toBe(page !== undefined && at > 1)
    expect(links.last !== undefined).toBe(count)
    expect(links.next !== undefined).toBe(expected.length > at * size)
    walked.push(...body)
    next = links.next
  }
  // Every record once: a walk gives the whole list, pages give it from the one they began with.
  expect(walked).toEqual(expected.slice(((page ?? 1) - 1) * size))
}

function shown(row: Row, attributes: Record<string, string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(attributes).map(([name, from]) => [name, row[from]]))
}

function orderBy(sort: string): (a: Row, b: Row) => number {
  const [, attribute = '', direction] = /^(.*)_(asc|desc)$/.exec(sort) ?? []
  const name = attribute === 'username' ? 'name' : attribute
  const sign = direction === 'asc' ? 1 : -1
  return (a, b) => sign * compare(a[name] ?? null, b[name] ?? null) || a.id - b.id
}

/** Null below every value, numbers by size, text by code point. */
function compare(a: string | number | null, b: string | number | null): number {
  if (a === null || b === null) return Number(b === null) - Number(a === null)
  if (typeof a === 'number' || typeof b === 'number') return Number(a) - Number(b)
  const [left, right] = [[...a], [...b]].map((characters) => characters.map((one) => one.codePointAt(0) ?? 0)) as [
    number[],
    number[],
  ]
  const apart = left.findIndex((point, index) => point !== right[index])
  if (apart < 0) return left.length - right.length
  return (left[apart] ?? -1) - (right[apart] ?? -1)
}

function linksOf(headers: Headers): Record<string, string> {
  const parts = (headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g)
  return Object.fromEntries([...parts].map(([, target = '', rel = '']) => [rel, target]))
}
