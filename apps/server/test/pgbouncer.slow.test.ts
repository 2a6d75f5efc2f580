import { makeDatabase, startPostgres } from '@resource/postgres-test'
import { isPgBouncerInstalled, startPgBouncer } from '@resource/postgres-test/pgbouncer'
import { expect, test } from 'vitest'
import { openEvents } from './event-source.ts'
import { spawnService, temporaryFolder } from './service-process.ts'

const MIXES = [
  ['/items', '/items/1', '/items?sort=price_desc', '/items?count=true', '/api/users?role=user', '/books'],
  ['/books', '/api/users?status=active', '/api/users/1', '/items?category=lamps', '/items/1', '/items'],
] as const

test.skipIf(!isPgBouncerInstalled)(
  'processes behind PgBouncer in transaction mode, without a setting in the URL, get the results of their own statements and every change in order, through restarts of each part (needs PgBouncer)',
  async () => {
    await using postgres = await startPostgres()
    // Two server connections, which both processes share.
    await using bouncer = await startPgBouncer(postgres.port, { default_pool_size: '2', server_login_retry: '0' })
    const url = new URL(await makeDatabase(postgres.url))
    url.port = String(bouncer.port)
    await using folder = await temporaryFolder()
    const start = () => spawnService(folder.path, { DATABASE_URL: url.href, RATE_LIMIT: '0' })
    await using first = start()
    const origins = [await first.url()]
    await using second = start()
    origins.push(await second.url())

    const send = async (method: string, path: string, json: object, origin = origins[0]) =>
      (
        await fetch(`${origin}${path}`, {
          method,
          body: JSON.stringify(json),
          headers: { 'Content-Type': 'application/json' },
        })
      ).status
    expect(await send('POST', '/items/', { name: 'Lamp', price: 1, category: 'lamps' })).toBe(201)
    expect(await send('POST', '/books', { title: 'Ulysses', author: 'Joyce', published_date: '1922-02-02' })).toBe(201)
    expect(await send('POST', '/api/users', { name: 'Ada', email: 'ada@example.com', role: 'user' })).toBe(201)

    const expected = {
      items: { name: 'Lamp', price: 1 },
      books: { title: 'Ulysses' },
      users: { name: 'Ada', email: 'ada@example.com' },
    }
    const reads = async () => {
      const all = origins.flatMap((origin, index) =>
        Array.from({ length: 5 }, () => MIXES[index] as readonly string[]).flatMap((paths) =>
          paths.map(async (path) => {
            const response = await fetch(origin + path)
            const body = await response.json()
            const [, kind] = /(items|books|users)/.exec(path) as unknown as [string, keyof typeof expected]
            expect([path, response.status, [body].flat()]).toMatchObject([path, 200, [expected[kind]]])
          }),
        ),
      )
      await Promise.all(all)
    }
    const served = async () => expect.poll(() => reads().then(() => true)).toBe(true)

    await using one = await openEvents(`${origins[0]}/api/changes?after=0-0&resources=books`)
    await using other = await openEvents(`${origins[1]}/api/changes?after=0-0&resources=books`)
    let version = 0
    /** Both processes write at the same time; the follower of each sees the writes of both. */
    const followed = async () => {
      const authors = Array.from({ length: 40 }, (_, n) => `${version} ${n}`)
      const write = (author: string, n: number) =>
        send('PUT', '/books/1', { author, title: 'Ulysses', published_date: '1922-02-02' }, origins[n % 2])
      expect(await Promise.all(authors.map(write))).toEqual(Array(40).fill(200))
      const expected = Array.from({ length: version === 0 ? 41 : 40 }, () => ++version)
      for (const events of [one, other]) {
        expect((await events.changes(expected.length)).map((change) => change.version)).toEqual(expected)
      }
    }

    await reads()
    await reads()
    await followed()
    await bouncer.restart()
    await served()
    await reads()
    await followed()
    await postgres.stop('crash')
    await postgres.start()
    await served()
    await reads()
    await followed()
    second.signal('SIGKILL')
    await second.exited
    await using third = start()
    origins[1] = await third.url()
    await reads()
    await reads()
  },
)
