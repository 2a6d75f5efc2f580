import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seedOfRun } from './fuzz/random.ts'
import { startTestServer, type TestServer } from './harness.ts'

type Row = Record<string, string | number | null> & { id: number }

/** A collection and its list parameters. */
interface Family {
  /** The path for creation, and the key of the record in the response, if any. */
  create: string
  createdUnder?: string
  /** The list paths. Each maps the attributes it shows to those of the record. */
  paths: Record<string, Record<string, string>>
  sortable: string[]
  record: fc.Arbitrary<Record<string, unknown>>
  filters: Record<string, (row: Row, value: string) => boolean>
  filterValues: Record<string, string[]>
}

// Texts whose order differs between UTF-16 units, bytes and code points: U+FFFF sorts before U+1F600, though its unit
// is larger.
// With the form that searches compare; the same lowercase letters by default.
const TEXTS = new Map<string, string>([
  ['a', 'a'],
  ['A', 'a'],
  ['aa', 'aa'],
  ['é', 'é'],
  ['e\u0301', 'é'],
  ['\u212b\u0301', 'ǻ'],
  ['ß', 'ss'],
  ['Z', 'z'],
  ['\uffff', '\uffff'],
  ['\u{1f600}', '\u{1f600}'],
  ['\u{1f600}a', '\u{1f600}a'],
  ['漢', '漢'],
  ['%', '%'],
  ['_', '_'],
  ["'", "'"],
  ['Ada Lovelace', 'ada lovelace'],
  ['LOVELACE,  Ada "x"', 'lovelace, ada "x"'],
  ['100% a_b\\', '100% a_b\\'],
  ['漢字かな', '漢字かな'],
  ['我爱北京天安门', '我爱北京天安门'],
  ['서울특별시', '서울특별시'],
  ['\u1109\u1165\u110b\u116e\u11af 中a', '서울 中a'],
  ['สวัสดีครับ', 'สวัสดีครับ'],
  ['ΟΔΟΣ οδός', 'οδοσ οδόσ'],
  ['Ο\u0301ΔΟΣ ᾳδα', 'όδοσ αιδα'],
  ['İstanbul ǅ', 'istanbul ǆ'],
  ['I\u0307STANBUL Isparta', 'istanbul isparta'],
  ['diyarbakır', 'diyarbakir'],
  ['Straße ﬁn', 'strasse fin'],
  ['STRASSE', 'strasse'],
  ['i\u0307\u0300los J\u0307', 'ìlos j'],
])
const text = fc.constantFrom(...TEXTS.keys())
const FOLDED = new Map([...TEXTS].map(([written, folded]) => [written.normalize('NFC'), folded]))
const SEARCHES = [
  'aa',
  'lo',
  'ada',
  'ACE ada',
  'a_b\\',
  '0% 10',
  '漢字',
  '字か',
  'οδο',
  'ΟΔΌ',
  'αιδ',
  'ISTAN',
  'i\u0307s',
  'DIYARBAKIR',
  'STRAẞE',
  'traSSe',
  'FIN',
  'ÌLO',
  'e\u0301e',
  '北京',
  '安门',
  '字か',
  '특별',
  '\u1110\u1173\u11a8\u1107\u1167\u11af',
  '울시',
  '中a',
  'สดี',
  'ดี',
  '\u{1f600}a',
  'nosuch',
]
const equals = (name: string) => (row: Row, value: string) => String(row[name]) === value.normalize('NFC')
const SEARCHED = new Map([
  ['ΟΔΌ', 'οδό'],
  ['ISTAN', 'istan'],
  ['i\u0307s', 'is'],
  ['DIYARBAKIR', 'diyarbakir'],
  ['STRAẞE', 'strasse'],
  ['traSSe', 'trasse'],
  ['FIN', 'fin'],
  ['ÌLO', 'ìlo'],
  ['e\u0301e', 'ée'],
  ['\u1110\u1173\u11a8\u1107\u1167\u11af', '특별'],
])
const UNSPACED = /[漢字かな我爱北京天安门中가-힣\u0e00-\u0e7f]/
/** A word of two characters matches the beginning of a word, a longer one or one of a script without spaces any part (API rule C22). */
const searched =
  (...names: string[]) =>
  (row: Row, value: string) => {
    const texts = names.map((name) => ` ${FOLDED.get(String(row[name])) ?? row[name]}`)
    return (SEARCHED.get(value) ?? value.toLowerCase())
      .split(/\s+/)
      .every((word) =>
        texts.some((text) => text.includes([...word].length === 2 && !UNSPACED.test(word) ? ` ${word}` : word)),
      )
  }
const number = (name: string, test: (stored: number, bound: number) => boolean) => (row: Row, value: string) =>
  row[name] !== null && test(row[name] as number, Number(value))
const same = (...names: string[]) => Object.fromEntries(names.map((name) => [name, name]))

const USER = ['id', 'name', 'email', 'role', 'status', 'age', 'created_at', 'updated_at']
const families: Record<string, Family> = {
  users: {
    create: '/users',
    paths: {
      '/api/users': same('id', 'name', 'email', 'role'),
      '/users': same(...USER),
      '/api/users/': { username: 'name', email: 'email' },
    },
    sortable: ['username', ...USER],
    record: fc.record({
      name: text,
      // A record has the address of its place in the list.
      email: fc.constant(''),
      role: fc.constantFrom('admin', 'user'),
      status: fc.constantFrom('active', 'inactive'),
      age: fc.constantFrom(null, null, 0, 9, 10, 150),
    }),
    filters: {
      role: equals('role'),
      status: equals('status'),
      age: equals('age'),
      age_gte: number('age', (age, bound) => age >= bound),
      age_lte: number('age', (age, bound) => age <= bound),
      name_contains: searched('name'),
      email: (row, value) => row.email === value.toLowerCase(),
      q: searched('name', 'email'),
    },
    filterValues: {
      role: ['admin', 'user'],
      status: ['active', 'inactive'],
      age: ['0', '9', '10', '77'],
      age_gte: ['0', '10'],
      age_lte: ['9', '150'],
      name_contains: SEARCHES,
      email: ['1@EXAMPLE.com', '2@example.com', 'no address'],
      q: [...SEARCHES, 'example.com', 'ada @example'],
    },
  },
  books: {
    create: '/books',
    paths: { '/books': same('id', 'title', 'author', 'published_date') },
    sortable: ['id', 'title', 'author', 'published_date'],
    record: fc.record({
      title: text,
      author: text,
      published_date: fc.constantFrom('0001-01-01', '1969-03-01', '1969-12-31', '2024-02-29', '9999-12-31'),
    }),
    filters: {
      author: equals('author'),
      published_date_gte: (row, value) => String(row.published_date) >= value,
      published_date_lte: (row, value) => String(row.published_date) <= value,
      title_contains: searched('title'),
      q: searched('title', 'author'),
    },
    filterValues: {
      author: ['a', 'Ada Lovelace', 'none', 'e\u0301'],
      published_date_gte: ['1969-03-01', '1969-03-02'],
      published_date_lte: ['1969-12-31', '2024-02-28'],
      title_contains: SEARCHES,
      q: SEARCHES,
    },
  },
  items: {
    create: '/items/',
    createdUnder: 'item',
    paths: { '/items/': same('id', 'name', 'price', 'category'), '/items': same('id', 'name', 'price', 'category') },
    sortable: ['id', 'name', 'price', 'category'],
    record: fc.record({
      name: text,
      price: fc.constantFrom(0, 5e-324, 0.1, 0.1 + 0.2, 0.3, 9, 10, 1e12),
      category: fc.oneof(fc.constant(null), text),
    }),
    filters: {
      category: equals('category'),
      price_lt: number('price', (price, bound) => price < bound),
      price_lte: number('price', (price, bound) => price <= bound),
      price_gt: number('price', (price, bound) => price > bound),
      price_gte: number('price', (price, bound) => price >= bound),
      name_contains: searched('name'),
      q: searched('name'),
    },
    filterValues: {
      category: ['a', 'A', '\u{1f600}', '\uffff', '%', 'none', 'e\u0301'],
      price_lt: ['0', '0.3', '10', '1000000000001'],
      price_lte: ['0.3', '10'],
      price_gt: ['0', '9'],
      price_gte: ['0', '9'],
      name_contains: SEARCHES,
      q: SEARCHES,
    },
  },
}

interface ListQuery {
  path: string
  sort?: string | undefined
  limit: number
  /** A page number; without it, the list is read by cursor. */
  page?: number | undefined
  filters: [string, string][]
  count: boolean
}

for (const [noun, family] of Object.entries(families)) {
  test(`${noun}: every combination of filters, order, page, cursor and count matches a plain array`, async () => {
    const queries = fc.array(queryOf(family), { minLength: 15, maxLength: 15 })
    const records = fc.array(family.record, { maxLength: 30 })
    const property = fc.asyncProperty(records, queries, async (records, queries) => {
      await using server = await startTestServer()
      const rows: Row[] = []
      for (const [index, record] of records.entries()) {
        const json = 'email' in record ? { ...record, email: `${index}@example.com` } : record
        const { status, body } = await server.request('POST', family.create, { json })
        expect(status).toBe(201)
        const row: Row = family.createdUnder === undefined ? body : body[family.createdUnder]
        expect(row).toMatchObject(inNfc(json))
        rows.push(row)
      }
      for (const query of queries) await check(server, family, rows, query)
    })
    await fc.assert(property, { numRuns: 15, seed: seedOfRun() })
  })
}

function inNfc(record: Record<string, unknown>): Record<string, unknown> {
  const normalized = Object.entries(record).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.normalize('NFC') : value,
  ])
  return Object.fromEntries(normalized)
}

function queryOf({ paths, sortable, filterValues }: Family): fc.Arbitrary<ListQuery> {
  const filters = Object.entries(filterValues).map(([name, values]) =>
    fc.option(
      fc.constantFrom(...values).map((value): [string, string] => [name, value]),
      // Most lists have few filters, so that some records remain.
      { nil: undefined, freq: 3 },
    ),
  )
  const sorts = sortable.flatMap((attribute) => [`${attribute}_asc`, `${attribute}_desc`])
  return fc.record({
    path: fc.constantFrom(...Object.keys(paths)),
    sort: fc.option(fc.constantFrom(...sorts), { nil: undefined }),
    limit: fc.constantFrom(1, 2, 3, 7, 29, 30, 31, 1000, 5000),
    page: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined, freq: 1 }),
    filters: fc.tuple(...filters).map((chosen) => chosen.filter((filter) => filter !== undefined)),
    count: fc.boolean(),
  })
}

async function check(server: TestServer, family: Family, rows: Row[], query: ListQuery): Promise<void> {
  const { path, sort = 'id_asc', limit, page, filters, count } = query
  const expected = rows
    .filter((row) => filters.every(([name, value]) => family.filters[name]?.(row, value)))
    .sort(orderBy(sort))
    .map((row) => shown(row, family.paths[path] ?? {}))
  const parameters = new URLSearchParams([
    ...filters,
    ['limit', String(limit)],
    ...(query.sort === undefined ? [] : [['sort', query.sort]]),
    ...(count ? [['count', 'true']] : []),
  ] as [string, string][])

  const size = Math.min(limit, 1000)
  const walked: unknown[] = []
  let next: string | undefined = `${path}?${parameters}&${page === undefined ? 'after=' : `page=${page}`}`
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
  // Every record appears once: a cursor reads the whole list, pages read it from the first requested one.
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

/** Nulls first, then numbers by value and text by code point. */
function compare(a: string | number | null, b: string | number | null): number {
  if (a === null || b === null) return Number(b === null) - Number(a === null)
  if (typeof a === 'number' || typeof b === 'number') return Number(a) - Number(b)
  const [left, right] = [[...a], [...b]].map((characters) => characters.map((one) => one.codePointAt(0) ?? 0)) as [
    number[],
    number[],
  ]
  const difference = left.findIndex((point, index) => point !== right[index])
  if (difference < 0) return left.length - right.length
  return (left[difference] ?? -1) - (right[difference] ?? -1)
}

function linksOf(headers: Headers): Record<string, string> {
  const parts = (headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g)
  return Object.fromEntries([...parts].map(([, target = '', rel = '']) => [rel, target]))
}
