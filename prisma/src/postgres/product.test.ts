import { expect, test } from 'vitest'
import { migrationNames } from '../../test/history.ts'
import { emptyDatabase } from '../../test/postgres.ts'
import { migratePostgres } from './migrate.ts'

const ON_LINUX = 'on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit'

/** A database in whose sessions `version()` is a function of this test. */
async function databaseWithVersion() {
  const { parsed, rows, setDefault } = await emptyDatabase()
  await rows('CREATE SCHEMA shadow')
  await setDefault('search_path = shadow, pg_catalog, public')
  return async (version: string, options = {}) => {
    await rows(`CREATE OR REPLACE FUNCTION shadow.version() RETURNS text LANGUAGE sql RETURN '${version}'`)
    return migratePostgres(parsed, 0, options).catch((error: Error) =>
      error.message.replace(`The database ${parsed.label} cannot be used: `, ''),
    )
  }
}

test('databases that only speak the protocol of PostgreSQL are refused with the reason', async () => {
  const startOn = await databaseWithVersion()
  const remedy = 'Use PostgreSQL 15 or newer, or set ALLOW_UNTESTED_DATABASE=true to try.'
  for (const [version, reason] of [
    [
      'CockroachDB CCL v25.4.5 (x86_64-pc-linux-gnu, built 2026/02/20 16:21:10, go1.23.12)',
      'it is CockroachDB, not PostgreSQL: its generated ids exceed 2147483647, and its DO blocks do not execute SQL.',
    ],
    [
      'PostgreSQL 15.12-YB-2.25.2.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 17.0.6, 64-bit',
      'it is YugabyteDB, not PostgreSQL: its indexes do not return rows in their order.',
    ],
    [
      'PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2 20041017 (Red Hat 3.4.2-6.fc3), Redshift 1.0.125214',
      'it is Amazon Redshift, not PostgreSQL: it has no indexes, and does not enforce unique columns.',
    ],
    [
      'PostgreSQL 9.5.0 on x86_64-unknown-linux-gnu (Materialize 0.164.0)',
      'it is Materialize, not PostgreSQL: it does not enforce unique columns.',
    ],
    ['PostgreSQL 16', 'it is not PostgreSQL: its version() is "PostgreSQL 16", as that of Aurora DSQL or Spanner.'],
    [`PostgreSQL 14.20 ${ON_LINUX}`, 'it is PostgreSQL 14, which the service is not tested with.'],
  ] as const) {
    expect(await startOn(version)).toBe(`${reason} ${remedy}`)
  }
  expect(await startOn('PostgreSQL 16', { allowUntested: true })).toEqual(migrationNames('postgresql'))
})

test('builds of PostgreSQL by others are accepted', async () => {
  const startOn = await databaseWithVersion()
  expect(await startOn(`PostgreSQL 15.14 (Debian 15.14-0+deb12u1) ${ON_LINUX}`)).toEqual(migrationNames('postgresql'))
  expect(await startOn('PostgreSQL 17.5, compiled by Visual C++ build 1944, 64-bit')).toEqual([])
  expect(await startOn(`PostgreSQL 18beta1 ${ON_LINUX}`)).toEqual([])
})
