import type pg from 'pg'
import { UNHURRIED } from './session.ts'

/** The oldest version of PostgreSQL on which the service is tested. */
const OLDEST = 15

/** Databases that clients of PostgreSQL can connect to, by their `version()`, each with what they lack. */
const OTHERS: [version: RegExp, name: string, reason: string][] = [
  [/CockroachDB/, 'CockroachDB', 'its generated ids exceed 2147483647, and its DO blocks do not execute SQL'],
  [/-YB-/, 'YugabyteDB', 'its indexes do not return rows in their order'],
  [/Redshift/, 'Amazon Redshift', 'it has no indexes, and does not enforce unique columns'],
  [/Materialize/, 'Materialize', 'it does not enforce unique columns'],
  [/RisingWave/, 'RisingWave', 'it has no transactions that write'],
  [/QuestDB/, 'QuestDB', 'it does not enforce unique columns'],
  [/Greenplum/, 'Greenplum', 'its unique columns must contain the distribution key'],
]
// Each build of PostgreSQL names its compiler.
const BUILD = /^PostgreSQL (\d+).* compiled by /

/**
 * Checks that a server is PostgreSQL itself, which may be a managed or extended one. The statements of the service succeed on some
 * of the others, but lose what it promises.
 *
 * @throws Error with the reason
 */
export async function assertTested(client: pg.Client): Promise<void> {
  const select = 'SELECT version()'
  // Some of the others refuse the setting.
  const answer = await client.query(`${UNHURRIED}; ${select}`).catch(() => client.query(select))
  const fault = faultOf(String([answer].flat().at(-1)?.rows[0].version))
  if (fault === undefined) return
  throw new Error(`${fault}. Use PostgreSQL ${OLDEST} or newer, or set ALLOW_UNTESTED_DATABASE=true to try`)
}

function faultOf(version: string): string | undefined {
  const [, name, reason] = OTHERS.find(([pattern]) => pattern.test(version)) ?? []
  if (name !== undefined) return `it is ${name}, not PostgreSQL: ${reason}`
  const [, major] = BUILD.exec(version) ?? []
  if (major === undefined)
    return `it is not PostgreSQL: its version() is "${version}", as that of Aurora DSQL or Spanner`
  return Number(major) < OLDEST ? `it is PostgreSQL ${major}, which the service is not tested with` : undefined
}
