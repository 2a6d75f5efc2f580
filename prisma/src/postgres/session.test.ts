import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { newUser } from '../../test/database.ts'
import { emptyDatabase, openDatabase } from '../../test/postgres.ts'
import { insertMany, insertOne } from '../../test/rows.ts'
import { createDatabase } from '../index.ts'
import { openPool } from './pool.ts'

/** Each changes how a value is written or read, what a name or a statement means, or whether a statement succeeds. */
const SETTINGS = [
  `DateStyle = 'German, DMY'`,
  `TimeZone = 'Asia/Kolkata'`,
  `IntervalStyle = iso_8601`,
  'extra_float_digits = -15',
  'bytea_output = escape',
  `client_encoding = 'LATIN1'`,
  'search_path = other, public',
  'standard_conforming_strings = off',
  'transform_null_equals = on',
  'array_nulls = off',
  `default_transaction_isolation = 'serializable'`,
  'session_replication_role = replica',
  'row_security = off',
  'gin_fuzzy_search_limit = 1',
  'plan_cache_mode = force_generic_plan',
  'exit_on_error = on',
  'synchronous_commit = off',
  `lock_timeout = '1ms'`,
  'quote_all_identifiers = on',
  'backslash_quote = off',
  'check_function_bodies = off',
  'escape_string_warning = off',
  'xmloption = document',
]

test.each(['', '?pgbouncer=true'])(
  'settings of the database and the role change no answer: URL parameters "%s"',
  async (parameters) => {
    const { url, rows } = await emptyDatabase()
    const name = new URL(url).pathname.slice(1)
    // Behind a pooler they apply until the transaction has begun.
    const timeout = parameters === '' ? '1ms' : '1s'
    const timeouts = ['statement_timeout', 'idle_in_transaction_session_timeout'].map(
      (name) => `${name} = '${timeout}'`,
    )
    const settings = [...SETTINGS, ...timeouts]
    await rows(
      `CREATE SCHEMA other; CREATE TABLE other.users (id int); ${settings
        .map(
          (setting, index) =>
            `ALTER ${index % 2 === 0 ? 'DATABASE' : 'ROLE postgres IN DATABASE'} "${name}" SET ${setting}`,
        )
        .join(';')}`,
    )
    await using database = await openDatabase(url + parameters)
    const created_at = new Date('2026-02-01T03:04:05.678Z')
    const expires_at = new Date('2026-11-12T00:00:00.000Z')
    await database.write(async (tx) => {
      await insertMany(tx.users, [
        { ...newUser('ada'), created_at, age: 7 },
        { ...newUser('bob'), created_at },
      ])
      await insertMany(tx.items, [
        { name: 'a\\b\u{1f600}', name_key: 'a\\b', price: 0.1 + 0.2, category: 'NULL' },
        { name: `it's`, name_key: `it's`, price: 123_456_789.123_456, category: null },
      ])
      await new Promise(setImmediate)
      await insertOne(tx.apiKeys, { name: 'key', role: 'admin', prefix: 'p', hash: 'h', created_at, expires_at })
    })
    await database.write(
      (tx) => insertOne(tx.items, { name: 'third', name_key: 'third', price: 1 / 3, category: null }),
      {
        autocommit: true,
      },
    )
    const order = { column: 'id', descending: false } as const
    expect(
      await database.read.users.page({ where: { created_at: { lte: created_at } }, order, take: 9 }),
    ).toMatchObject([
      { name: 'ada', created_at, age: 7 },
      { name: 'bob', created_at, age: null },
    ])
    expect(await database.read.items.page({ where: {}, order, take: 9 })).toMatchObject([
      { name: 'a\\b\u{1f600}', price: 0.1 + 0.2, category: 'NULL' },
      { name: `it's`, price: 123_456_789.123_456, category: null },
      { name: 'third', price: 1 / 3, category: null },
    ])
    expect(await database.read.items.count({ category: null })).toBe(2)
    expect(await database.read.apiKeys.find({ prefix: 'p' })).toMatchObject({ expires_at, created_at })
  },
)

test.each(['', '?pgbouncer=true'])(
  'a commit is on disk before it is confirmed, for every setting but a stricter one: URL parameters "%s"',
  async (parameters) => {
    for (const [setting, used] of [
      ['off', 'on'],
      ['on', 'on'],
      ['remote_apply', 'remote_apply'],
    ]) {
      const { url, setDefault, parsed } = await emptyDatabase()
      await setDefault(`synchronous_commit = ${setting}`)
      const pool = openPool({ ...parsed, pgbouncer: parameters !== '' }, {})
      expect((await pool.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: used }])
      expect(url).toBeDefined()
      await pool.end()
    }
  },
)

test.each(['', '?pgbouncer=true'])(
  'a setting that the role may not change is refused with the statement that changes it: URL parameters "%s"',
  async (parameters) => {
    const { url, rows } = await emptyDatabase()
    const name = new URL(url).pathname.slice(1)
    const role = `app_${randomUUID()}`
    await rows(`CREATE ROLE "${role}" LOGIN; GRANT CREATE ON SCHEMA public TO "${role}";
    ALTER ROLE "${role}" IN DATABASE "${name}" SET session_replication_role = replica`)
    await expect(createDatabase(url.replace('postgres@', `${role}@`) + parameters)).rejects.toThrow(
      `session_replication_role is not origin, so foreign keys are not checked. As a superuser run: ALTER ROLE "${role}" IN DATABASE "${name}" SET session_replication_role = origin`,
    )
  },
)

test.each(['', '?pgbouncer=true'])(
  'a database that is read-only by default is refused with the statement that changes it: URL parameters "%s"',
  async (parameters) => {
    const { url, setDefault } = await emptyDatabase()
    await setDefault('default_transaction_read_only = on')
    const name = new URL(url).pathname.slice(1)
    await expect(createDatabase(url + parameters)).rejects.toThrow(
      `is read-only: default_transaction_read_only is on. Run: ALTER ROLE postgres IN DATABASE "${name}" SET default_transaction_read_only = off`,
    )
  },
)

test.each(['statement_timeout', 'idle_in_transaction_session_timeout'])(
  'a %s that is too short behind a pooler is refused with the statement that changes it',
  async (setting) => {
    const { url, setDefault } = await emptyDatabase()
    await setDefault(`${setting} = '999ms'`)
    const name = new URL(url).pathname.slice(1)
    await expect(createDatabase(`${url}?pgbouncer=true`)).rejects.toThrow(
      `${setting} is too short behind a pooler. Run: ALTER ROLE "postgres" IN DATABASE "${name}" SET ${setting} = '5s'`,
    )
  },
)
