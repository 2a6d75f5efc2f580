import { type Contract, contract } from '@resource/contract'
import { createDatabase } from '@resource/database'
import { explainedTables, type Plan } from '@resource/database/testing'
import type {} from '@resource/postgres-test/vitest'
import type { Seed } from '@resource/server/testing'
import { expect, inject, test } from 'vitest'
import { z } from 'zod'
import { createOperations } from '../src/operations.ts'
import { readConfig } from '../src/process/config.ts'
import { storeSeed } from '../src/testing/seed.ts'
import { unpooled } from './database.ts'
import { startTestServer } from './harness.ts'
import { collections, recordOf, SPECIFIED } from './samples.ts'

/** One combination of list parameters. */
interface List {
  noun: string
  filters: string[]
  attribute: string
  direction: string
}

// Few records, read one per page, with ties and nulls so that reading by cursor runs every query.
const seed: Seed = {
  ...Object.fromEntries(collections.map((noun) => [noun, [0, 1, 2, 3].map((n) => recordOf(noun, n))])),
  users: [1, 2, 3, 4, 5, 6].map((n) => ({
    name: `n${n % 2}`,
    email: `user${n}@example.com`,
    role: n % 2 === 0 ? 'admin' : 'user',
    status: n < 4 ? 'active' : 'inactive',
    age: n % 3 === 0 ? null : n % 2,
  })),
  books: [1, 2, 3, 4].map((n) => ({ title: `t${n % 2}`, author: `a${n % 2}`, published_date: `200${n % 2}-01-01` })),
  items: [1, 2, 3, 4, 5, 6].map((n) => ({
    name: `n${n % 2}`,
    price: n % 2,
    category: n % 3 === 0 ? null : `c${n % 2}`,
  })),
}

const filterValues: Record<string, unknown> = {
  role: 'admin',
  status: 'active',
  email: 'user1@example.com',
  age: 1,
  category: 'c1',
  age_gte: 0,
  age_lte: 9,
  created_at_gte: '2026-01-01T00:00:00Z',
  created_at_lt: '9999-01-01T00:00:00Z',
  author: 'a1',
  published_date_gte: '2000-01-01',
  published_date_lte: '2001-01-01',
  price_lt: 9,
  price_lte: 9,
  price_gt: -1,
  price_gte: 0,
  resource: 'users',
  record_id: 1,
  actor: 'local',
  procedure: 'users.create',
  change: 'created',
  at_gte: '2026-01-01T00:00:00Z',
  at_lt: '9999-01-01T00:00:00Z',
}

type Fault = 'reads extra rows' | 'sorts'

// If no index covers both the filter and the order, SQLite sorts the filtered rows. PostgreSQL, with sorting disabled
// here, reads in the requested order and skips other rows; in production its statistics decide.
const withoutIndex: Fault = inject('postgres') === undefined ? 'sorts' : 'reads extra rows'

// Each index slows every write, so not every filter has an index for every order.
const exemptions: { may: Fault; why: string; covers: (list: List) => boolean }[] = [
  {
    may: withoutIndex,
    why: 'an index covers one of several filters; few rows remain, or they are in the requested order',
    covers: ({ filters }) => filters.length > 1,
  },
  {
    may: 'sorts',
    why: 'with a range among two filters, of which a cursor in a column with nulls is one, few rows remain',
    covers: ({ filters, attribute }) =>
      filters.some((filter) => RANGE.test(filter)) && (filters.length > 1 || attribute === 'category'),
  },
  {
    may: withoutIndex,
    why: 'role and status have indexes only for common orders (id, name, created_at)',
    covers: ({ filters: [filter = '', more], attribute }) =>
      more === undefined &&
      ['role', 'status'].includes(filter) &&
      ['email', 'updated_at', 'age', 'role', 'status'].includes(attribute),
  },
  {
    may: withoutIndex,
    why: 'few users have the same age, and one has an e-mail address',
    covers: ({ filters: [filter = '', more], attribute }) =>
      more === undefined && ['age', 'email'].includes(filter) && (filter === 'email' || attribute !== 'id'),
  },
  {
    may: withoutIndex,
    why: 'few items have the same category, and price has an index',
    covers: ({ filters: [filter, more], attribute }) =>
      more === undefined && filter === 'category' && attribute === 'name',
  },
  {
    may: withoutIndex,
    why: 'few books have the same author',
    covers: ({ filters: [filter, more], attribute }) => more === undefined && filter === 'author' && attribute !== 'id',
  },
  {
    may: 'reads extra rows',
    why: 'a range filter allows an index only its own order: rows are read in the requested order, and others are skipped',
    covers: ({ filters, attribute }) =>
      filters.every((filter) => RANGE.test(filter)) &&
      filters.some((filter) => filter.replace(RANGE, '') !== attribute),
  },
  {
    may: 'reads extra rows',
    why: 'entries of other kinds of change are skipped: an index on records before and after a change would slow every write',
    covers: ({ filters }) => filters.includes('change'),
  },
  {
    may: 'reads extra rows',
    why: 'few sessions have ended: each hour these are deleted',
    covers: ({ noun }) => noun === 'sessions',
  },
]

const RANGE = /_(lt|lte|gt|gte)$/

test('every list uses an index, by page and by cursor, or its exemption gives the reason', async () => {
  await using server = await startTestServer()
  await storeSeed(server.databaseUrl, seed)
  await using read = await explainedReads(server.databaseUrl)
  const faulty: (List & { fault: Fault; plan: Plan })[] = []
  for (const list of lists()) {
    for (const plan of await read(list)) {
      const fault = faultOf(plan, list)
      if (fault !== undefined) faulty.push({ ...list, fault, plan })
    }
  }
  const allowed = (exemption: (typeof exemptions)[number]) =>
    faulty.filter((list) => list.fault === exemption.may && exemption.covers(list))

  expect(faulty.filter((list) => !exemptions.some((exemption) => allowed(exemption).includes(list)))).toEqual([])
  // Unused exemptions must be removed.
  for (const exemption of exemptions) expect(allowed(exemption), exemption.why).not.toEqual([])
})

function faultOf({ sql, searchesIndex, sorts }: Plan, list: List): Fault | undefined {
  if (sorts === 'all' || (sorts === 'ties' && isSharedByMany(list))) return 'sorts'
  return sql.includes(' WHERE ') && !searchesIndex ? 'reads extra rows' : undefined
}

/**
 * Whether many records share a value of the attribute. For other attributes, the few ties are sorted by id as they are
 * read.
 */
function isSharedByMany({ noun, attribute }: List): boolean {
  const { output } = (contract[noun as keyof Contract].procedures as { get: { output: z.ZodObject } }).get
  const schema = output.shape[attribute]
  const isChoice = schema instanceof z.ZodEnum || schema instanceof z.ZodBoolean
  return isChoice || ['users.age', 'items.category'].includes(`${noun}.${attribute}`)
}

/**
 * Every filter, and every two filters, with every order of the contract. Searches have an index of their own. For a collection outside the API rules, every order without a
 * filter, because its model decides which filters have an index.
 */
function lists(): List[] {
  return Object.entries(contract).flatMap(([noun, { procedures }]) => {
    if (!('list' in procedures)) return []
    const { shape } = procedures.list.input
    if (!('sort' in shape)) return []
    const { sort, page: _, limit: __, after: ___, count: ____, ...filters } = shape
    const names = Object.keys(filters).filter((name) => name !== 'q' && !name.endsWith('_contains'))
    return upToTwo(SPECIFIED.includes(noun) ? names : []).flatMap((filters) =>
      sort.unwrap().options.map((value) => {
        const split = value.lastIndexOf('_')
        return { noun, filters, attribute: value.slice(0, split), direction: value.slice(split + 1) }
      }),
    )
  })
}

function upToTwo<T>(values: T[]): T[][] {
  const pairs = values.flatMap((first, index) => values.slice(index + 1).map((second) => [first, second]))
  return [[], ...values.map((value) => [value]), ...pairs]
}

/** Reads a list by page, then to its end by cursor, and returns the plans of the queries. */
async function explainedReads(databaseUrl: string) {
  const database = await createDatabase(databaseUrl)
  const { read: tables, plans, close } = explainedTables(unpooled(databaseUrl))
  const read = Object.assign(tables, { prisma: database.read.prisma })
  const operations = createOperations(database, readConfig({}), { needsCredentials: () => false })

  const reads = async ({ noun, filters, attribute, direction }: List) => {
    const list = operations.find(({ name }) => name === `${noun}.list`)
    const input = {
      ...Object.fromEntries(filters.map((filter) => [filter, filterValues[filter]])),
      sort: `${attribute}_${direction}`,
      limit: 1,
    }
    const context = { requestId: 'test', caller: { name: 'test', role: 'admin' }, read } as const
    const call = (position: object) => list?.call({ ...input, ...position }, context) as Promise<PageMetadata>
    await call({ page: 2 })
    let { next } = await call({ after: '' })
    while (next !== null) ({ next } = await call({ after: next }))
    return plans.splice(0)
  }
  return Object.assign(reads, {
    [Symbol.asyncDispose]: async () => {
      await close()
      await database.close()
    },
  })
}

interface PageMetadata {
  next: string | null
}
