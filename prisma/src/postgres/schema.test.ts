import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { newUser } from '../../test/database.ts'
import { migrationNames } from '../../test/history.ts'
import { emptyDatabase, openDatabase } from '../../test/postgres.ts'
import { insertMany, insertOne } from '../../test/rows.ts'
import { createDatabase } from '../index.ts'
import { migratePostgres } from './migrate.ts'
import { readPostgresUrl } from './url.ts'

const byId = { column: 'id', descending: false } as const

test('each schema of a database holds its own data, and a search in it uses its index', async () => {
  const { url, rows } = await emptyDatabase()
  const warnings: string[] = []
  const open = (schema: string) =>
    openDatabase(`${url}?schema=${schema}`, { onWarning: (warning) => warnings.push(warning) })
  await using first = await open('a')
  await using second = await open('Other%20"one')
  await first.write((tx) => insertMany(tx.users, [newUser('ada'), newUser('bob')]))
  await second.write((tx) => insertOne(tx.users, newUser('ada')), { lockKey: 'key' })
  const names = async ({ read }: typeof first) =>
    (await read.users.page({ where: { name_key: { contains: { words: ['b'] } } }, order: byId, take: 9 })).map(
      ({ name }) => name,
    )
  expect([await names(first), await names(second)]).toEqual([['bob'], []])
  expect([await first.read.users.count({}), await second.read.users.count({})]).toEqual([2, 1])
  expect(warnings).toEqual([])
  expect(
    await rows(`SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname !~ '^pg_|^information' ORDER BY 1`),
  ).toEqual([{ schemaname: 'Other "one' }, { schemaname: 'a' }])
  expect(await migratePostgres(readPostgresUrl(`${url}?schema=a`), 5_000)).toEqual([])
})

test("a search_path of the role changes no table, and another program's tables are left alone", async () => {
  const { url, rows, setDefault } = await emptyDatabase()
  await rows('CREATE SCHEMA other; CREATE TABLE other.users (id int, name text)')
  await setDefault('search_path = other, public')
  await using database = await openDatabase(url)
  await database.write((tx) => insertOne(tx.users, newUser('ada')))
  expect(
    await rows('SELECT (SELECT count(*) FROM other.users)::int AS other, count(*)::int AS own FROM public.users'),
  ).toEqual([{ other: 0, own: 1 }])
  await expect(createDatabase(`${url}?schema=other`)).rejects.toThrow(
    'has tables (users) but no migration history: it belongs to another program. Name another database, or another schema with ?schema=.',
  )
})

/** Two roles without privileges, and the URLs of the database for them. */
async function twoRoles() {
  const { url, rows } = await emptyDatabase()
  const database = new URL(url).pathname.slice(1)
  const [owner, service] = [`owner_${randomUUID()}`, `service_${randomUUID()}`]
  await rows(
    `CREATE ROLE "${owner}" LOGIN; CREATE ROLE "${service}" LOGIN; ALTER DATABASE "${database}" OWNER TO "${owner}"`,
  )
  const as = (role: string) => url.replace('postgres@', `${role}@`)
  const { label } = readPostgresUrl(url)
  return { rows, database, label, owner, service, asOwner: as(owner), asService: as(service) }
}

const messageOf = (url: string) =>
  createDatabase(url).then(
    () => '',
    (error: Error) => error.message,
  )

test('a role without CREATE serves a migrated database once it has the privileges that the refusal names', async () => {
  const { rows, label, owner, service, asOwner, asService } = await twoRoles()
  expect(await messageOf(asService)).toBe(
    `Migration 0001_init has not been applied to the database ${label}, and the role "${service}" may not apply it. Start the service once as the owner of the schema, or as the owner of the database "${new URL(asOwner).pathname.slice(1)}" run: GRANT USAGE, CREATE ON SCHEMA public TO "${service}";`,
  )
  await (await createDatabase(asOwner)).close()
  const refusal = await messageOf(asService)
  expect(refusal).toBe(
    `The role "${service}" lacks privileges in the database ${label}. As the owner of its tables run: GRANT USAGE ON SCHEMA public TO "${service}"; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "${service}"; GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO "${service}"; ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO "${service}"; ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE ON SEQUENCES TO "${service}";`,
  )
  await rows(`SET ROLE "${owner}"; ${refusal.slice(refusal.indexOf(': ') + 2)}`)
  // The log of audit entries may be append-only.
  await rows(
    `REVOKE UPDATE, DELETE ON audit_entries FROM "${service}"; REVOKE INSERT, UPDATE, DELETE ON _prisma_migrations FROM "${service}"`,
  )
  await using database = await openDatabase(asService)
  expect(await database.write((tx) => insertOne(tx.users, newUser('ada')))).toMatchObject({ id: 1 })
  await rows(`DELETE FROM _prisma_migrations WHERE migration_name = '${migrationNames('postgresql').at(-1)}'`)
  expect(await messageOf(asService)).toContain(
    `and the role "${service}" may not apply it. The role "${owner}" owns the table`,
  )
})

test('every privilege that is missing is refused at start with the statements that grant it', async () => {
  const { rows, database, label, owner, service, asOwner, asService } = await twoRoles()
  await (await createDatabase(asOwner)).close()
  const refusal = await messageOf(asService)
  const grants = refusal.slice(refusal.indexOf(': ') + 2)
  for (const revoked of [
    `SELECT ON _prisma_migrations`,
    `USAGE ON SEQUENCE users_id_seq`,
    `UPDATE ON users`,
    `SELECT ON api_keys`,
    `DELETE ON idempotency_keys`,
    `INSERT ON audit_entries`,
    `USAGE ON SCHEMA public`,
  ]) {
    await rows(
      `REVOKE ALL ON SCHEMA public FROM PUBLIC; SET ROLE "${owner}"; ${grants} REVOKE ${revoked} FROM "${service}"`,
    )
    expect([revoked, await messageOf(asService)]).toEqual([revoked, refusal])
  }
  await rows(`REVOKE CONNECT ON DATABASE "${database}" FROM PUBLIC`)
  expect(await messageOf(asService)).toBe(
    `The database ${label} cannot be used: permission denied for database "${database}". As the owner of the database run: GRANT CONNECT ON DATABASE "${database}" TO "${service}";`,
  )
})

test('a schema that is missing is created, or refused with the statement that creates it', async () => {
  const { rows, label, service, asOwner, asService } = await twoRoles()
  const refusal = await messageOf(`${asService}?schema=own`)
  expect(refusal).toBe(
    `Migration 0001_init has not been applied to the database ${label}, and the role "${service}" may not apply it. As the owner of the database run: CREATE SCHEMA own AUTHORIZATION "${service}";`,
  )
  await rows(refusal.slice(refusal.indexOf('run: ') + 5))
  await (await createDatabase(`${asService}?schema=own`)).close()
  await (await createDatabase(`${asOwner}?schema=another`)).close()
  expect(await rows(`SELECT schemaname FROM pg_tables WHERE tablename = 'users' ORDER BY 1`)).toEqual([
    { schemaname: 'another' },
    { schemaname: 'own' },
  ])
})
