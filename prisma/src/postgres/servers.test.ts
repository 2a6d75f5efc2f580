import { type PostgresServer, query, startPostgres } from '@resource/postgres-test'
import { expect, test } from 'vitest'
import { createDatabase } from '../index.ts'
import { openPool } from './pool.ts'
import { withServers } from './servers.ts'
import { readPostgresUrl } from './url.ts'

function urlOf(servers: Pick<PostgresServer, 'port'>[], target: string): string {
  const hosts = servers.map(({ port }) => `127.0.0.1:${port}`).join()
  return `postgresql://postgres@${hosts}/postgres?target_session_attrs=${target}`
}

/** The port of the server that a pool uses, or the message of its error. */
async function used(url: string): Promise<unknown> {
  const pool = openPool(withServers(readPostgresUrl(url)), {})
  try {
    return (await pool.query('SELECT inet_server_port() AS port')).rows[0].port
  } catch (error) {
    return (error as Error).message
  } finally {
    await pool.end()
  }
}

test('of several servers, the first with the role of target_session_attrs is used, as by libpq', async () => {
  await using primary = await startPostgres()
  await using standby = await primary.startStandby()
  const nothing = { port: 1 }
  const all = [nothing, primary, standby]
  expect(await used(urlOf(all, 'any'))).toBe(primary.port)
  expect(await used(urlOf([nothing, standby, primary], 'any'))).toBe(standby.port)
  expect(await used(urlOf([standby, primary], 'read-write'))).toBe(primary.port)
  expect(await used(urlOf([standby, primary], 'primary'))).toBe(primary.port)
  expect(await used(urlOf(all, 'standby'))).toBe(standby.port)
  expect(await used(urlOf(all, 'read-only'))).toBe(standby.port)
  expect(await used(urlOf(all, 'prefer-standby'))).toBe(standby.port)
  expect(await used(urlOf([nothing, primary], 'prefer-standby'))).toBe(primary.port)
  expect(await used(urlOf([nothing, primary], 'standby'))).toBe('No server of the database is standby')
  expect(await used(urlOf([nothing], 'any'))).toBe('connect ECONNREFUSED 127.0.0.1:1')
  await using other = await startPostgres()
  for (const { url } of [primary, other]) await query(url, 'CREATE ROLE limited LOGIN')
  await query(primary.url, 'ALTER ROLE limited CONNECTION LIMIT 0')
  const limited = urlOf([primary, other], 'any').replace('postgres@', 'limited@')
  expect(await used(limited)).toBe('too many connections for role "limited"')
  const wrong = urlOf([standby, primary], 'any').replace('postgres@', 'with_password:wrong@')
  expect(await used(wrong)).toBe('password authentication failed for user "with_password"')
  await expect(createDatabase(urlOf([primary], 'standby'), { connectTimeoutMs: 1 })).rejects.toThrow(
    `The database postgresql://127.0.0.1:${primary.port}/postgres cannot be reached: No server of the database is standby. Start PostgreSQL, or correct DATABASE_URL.`,
  )
})
