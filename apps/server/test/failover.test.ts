import { type PostgresServer, query, startPostgres } from '@resource/postgres-test'
import { expect, test } from 'vitest'
import { openEvents } from './event-source.ts'
import { bearer, startTestServer } from './harness.ts'
import { createItem, createKey } from './records.ts'
import { spawnService, temporaryFolder } from './service-process.ts'

const NO_PRIMARY = 'No server of the database is read-write'

function urlOf(...servers: PostgresServer[]): string {
  return `postgresql://postgres@${servers.map(({ port }) => `127.0.0.1:${port}`).join()}/postgres`
}

async function send(url: string, path: string, { json, key }: { json?: object; key?: string } = {}) {
  const headers = { ...(json && { 'Content-Type': 'application/json' }), ...(key && { 'Idempotency-Key': key }) }
  const init = json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) }
  const answer = await fetch(url + path, { ...init, headers })
  const body = (await answer.json()) as { message?: string; error?: { message: string } }
  return [answer.status, body.error?.message ?? body.message]
}

const createLamp = (url: string) => send(url, '/items/', { json: { name: 'Lamp', price: 1 } })

/** The connections of services to a server. */
async function connections({ url }: PostgresServer): Promise<number> {
  const count = `SELECT count(*)::int FROM pg_stat_activity WHERE application_name = 'resource-service'`
  return (await query(url, count)).rows[0].count
}

function names({ url }: PostgresServer): Promise<string[]> {
  return query(url, 'SELECT name FROM items').then(({ rows }) => rows.map(({ name }) => name).sort())
}

test('after a switchover an instance whose URL names both servers writes to the new primary: no write is lost, none is doubled', async () => {
  await using primary = await startPostgres()
  await using standby = await primary.startStandby()
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { DATABASE_URL: urlOf(standby, primary), RATE_LIMIT: '0' })
  const url = await service.url()
  // Alone: of several first writes the second may be committed first, and the log seems to begin after a deleted entry.
  expect((await send(url, '/items/', { json: { name: 'first', price: 1 } }))[0]).toBe(201)
  const stored = ['first']
  let isStopped = false
  const write = async (caller: number) => {
    for (let n = 0; !isStopped; n++) {
      const name = `${caller}-${n}`
      const create = () => send(url, '/items/', { json: { name, price: 1 }, key: name })
      while ((await create())[0] !== 201);
      stored.push(name)
    }
  }
  const writers = [1, 2, 3, 4].map(write)
  const more = () => {
    const goal = stored.length + 50
    return expect.poll(() => stored.length).toBeGreaterThan(goal)
  }
  await using events = await openEvents(`${url}/api/changes?after=0-0`)
  await more()
  await primary.stop('fast')
  await expect.poll(() => send(url, '/readyz')).toEqual([503, NO_PRIMARY])
  expect(await send(url, '/readyz/reads')).toEqual([503, NO_PRIMARY])
  expect(await send(url, '/items/1')).toEqual([503, NO_PRIMARY])
  // It waits for a primary.
  const environment = { DATABASE_URL: urlOf(primary, standby), DATABASE_CONNECT_TIMEOUT_MS: '60000' }
  await using other = spawnService(folder.path, environment)
  await query(standby.url, 'SELECT pg_promote()')
  await more()
  isStopped = true
  await Promise.all(writers)
  expect(await names(standby)).toEqual(stored.sort())
  const changes = await events.changes(stored.length)
  expect(new Set(changes.map(({ record_id }) => record_id)).size).toBe(stored.length)
  expect((await send(await other.url(), '/readyz'))[0]).toBe(200)
  await expect.poll(() => send(url, '/readyz')).toEqual([200, undefined])
})

test('a server that turns read-only refuses one write; its connections are closed, and the next write goes to the primary', async () => {
  await using first = await startPostgres()
  await using second = await first.startStandby()
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { DATABASE_URL: urlOf(first, second), RATE_LIMIT: '0' })
  const url = await service.url()
  expect((await createLamp(url))[0]).toBe(201)
  await expect.poll(() => names(second)).toEqual(['Lamp'])
  await query(second.url, 'SELECT pg_promote()')
  await query(first.url, 'ALTER SYSTEM SET default_transaction_read_only = on')
  await query(first.url, 'SELECT pg_reload_conf()')
  expect(await createLamp(url)).toEqual([503, 'The database accepts no writes: it is a standby or read-only'])
  expect((await createLamp(url))[0]).toBe(201)
  expect([await names(first), await names(second)]).toEqual([['Lamp'], ['Lamp', 'Lamp']])
  await expect.poll(() => connections(first)).toBe(0)
})

test('when the primary hangs and another server is promoted, what waits for it is refused, and further requests are served', async () => {
  await using first = await startPostgres()
  await using second = await first.startStandby()
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { DATABASE_URL: urlOf(first, second), RATE_LIMIT: '0' })
  const url = await service.url()
  expect((await createLamp(url))[0]).toBe(201)
  await expect.poll(() => names(second)).toEqual(['Lamp'])
  const { rows } = await query(
    first.url,
    `SELECT pid FROM pg_stat_activity WHERE backend_type IN ('client backend', 'walsender') AND pid <> pg_backend_pid()
     UNION SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int`,
  )
  const signal = (name: NodeJS.Signals) => {
    for (const { pid } of rows) process.kill(pid, name)
  }
  signal('SIGSTOP')
  try {
    const waiting = send(url, '/items/1')
    await expect.poll(() => send(url, '/readyz')).toEqual([503, expect.any(String)])
    await query(second.url, 'SELECT pg_promote()')
    await expect.poll(() => send(url, '/readyz')).toEqual([200, undefined])
    expect(await waiting).toEqual([503, 'The database cannot be reached; try again'])
    expect((await createLamp(url))[0]).toBe(201)
  } finally {
    signal('SIGCONT')
  }
})

test('a known key is accepted while the keys cannot be read, and any other is refused as unavailable', async () => {
  await using postgres = await startPostgres()
  await using server = await startTestServer({ DATABASE_URL: postgres.url, DATABASE_STATEMENT_TIMEOUT_MS: '2000' })
  await createItem(server)
  const { key } = await createKey(server)
  server.logIn(key)
  const { key: other } = await createKey(server)
  const read = async (key: string) => (await fetch(`${server.url}/items/1`, { headers: bearer(key) })).status
  expect(await read(key)).toBe(200)
  const lookups = `SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%api_keys%'`
  await postgres.whileLocked('api_keys', async () => {
    // A key is looked up every second.
    do expect(await read(key)).toBe(200)
    while ((await query(postgres.url, lookups)).rows[0].count === 0)
    expect(await read(key)).toBe(200)
    expect(await read(other)).toBe(503)
  })
  expect(await read(other)).toBe(200)
})
