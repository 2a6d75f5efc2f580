import type pg from 'pg'
import { declarations } from '../tables/declarations.ts'
import type { PostgresUrl } from './url.ts'

/** What the role of a connection may do with the schema of the service. Names are quoted if necessary. */
export interface Rights {
  role: string
  database: string
  schema: string
  encoding: string
  isStandby: boolean
  /** Whether transactions are read-only by default. */
  readonly: boolean
  schemaExists: boolean
  mayUseSchema: boolean
  mayCreateSchema: boolean
  mayCreateTables: boolean
  tables: string[]
  /** A table that another role owns, and that role. */
  other: { name: string; owner: string } | null
  /** Whether a privilege on the tables or their sequences is missing. */
  lacksPrivileges: boolean
}

// The retention of the audit log, which deletes, can be disabled; entries are never updated.
const RIGHTS = `
SELECT quote_ident(current_user) AS role, quote_ident(current_database()) AS database, quote_ident(wanted.name) AS schema,
  current_setting('server_encoding') AS encoding, current_setting('default_transaction_read_only') = 'on' AS readonly,
  pg_is_in_recovery() AS "isStandby",
  schema.oid IS NOT NULL AS "schemaExists",
  coalesce(has_schema_privilege(schema.oid, 'USAGE'), false) AS "mayUseSchema",
  has_database_privilege(current_database(), 'CREATE') AS "mayCreateSchema",
  coalesce(has_schema_privilege(schema.oid, 'CREATE'), false) AS "mayCreateTables",
  ARRAY(SELECT relname::text FROM pg_class WHERE relnamespace = schema.oid AND relkind IN ('r', 'p') ORDER BY relname) AS tables,
  (SELECT json_build_object('name', quote_ident(relname), 'owner', quote_ident(pg_get_userbyid(relowner))) FROM pg_class
    WHERE relnamespace = schema.oid AND relname = ANY($2) AND NOT pg_has_role(relowner, 'USAGE') LIMIT 1) AS other,
  EXISTS (SELECT FROM pg_class WHERE relnamespace = schema.oid AND relname = ANY($2) AND NOT (
    has_table_privilege(pg_class.oid, 'SELECT') AND (relname = '_prisma_migrations'
      OR has_table_privilege(pg_class.oid, 'INSERT') AND (relname = 'audit_entries'
        OR has_table_privilege(pg_class.oid, 'UPDATE') AND has_table_privilege(pg_class.oid, 'DELETE')))))
  OR EXISTS (SELECT FROM pg_class JOIN pg_depend ON refobjid = pg_class.oid AND deptype IN ('a', 'i')
    JOIN pg_class AS other ON other.oid = objid WHERE pg_class.relnamespace = schema.oid AND pg_class.relname = ANY($2)
      AND CASE other.relkind WHEN 'S' THEN NOT has_sequence_privilege(other.oid, 'USAGE') END) AS "lacksPrivileges"
FROM (VALUES ($1::text)) AS wanted (name) LEFT JOIN pg_namespace AS schema ON nspname = wanted.name`

/** @throws Error with the statements to run when the service cannot use the database */
export async function readRights(client: pg.Client, { label, schema }: PostgresUrl): Promise<Rights> {
  const known = [...Object.values(declarations).map(({ name }) => name), '_prisma_migrations']
  const [rights] = (await client.query(RIGHTS, [schema, known])).rows as [Rights]
  const { role, database, encoding } = rights
  if (encoding !== 'UTF8') {
    throw new Error(`The database ${label} has the encoding ${encoding}. Use a database with the encoding UTF8.`)
  }
  if (rights.readonly) {
    throw new Error(
      `The database ${label} is read-only: default_transaction_read_only is on. Run: ALTER ROLE ${role} IN DATABASE ${database} SET default_transaction_read_only = off`,
    )
  }
  if ((rights.schemaExists && !rights.mayUseSchema) || rights.lacksPrivileges)
    throw new Error(missingPrivileges(label, rights))
  return rights
}

/** @throws Error with a remedy when migrations cannot be applied here or by this role */
export function assertMayMigrate(label: string, migration: string, rights: Rights): void {
  const { role, database, schema, other } = rights
  if (rights.isStandby) {
    throw new Error(
      `Migration ${migration} has not been applied to the database ${label}, which is a standby. Start the service on its primary first.`,
    )
  }
  const refuse = (remedy: string) => {
    throw new Error(
      `Migration ${migration} has not been applied to the database ${label}, and the role ${role} may not apply it. ${remedy}`,
    )
  }
  if (other !== null) {
    refuse(
      `The role ${other.owner} owns the table ${other.name}: start the service once with a DATABASE_URL of this role.`,
    )
  }
  if (!rights.schemaExists && !rights.mayCreateSchema) {
    refuse(`As the owner of the database run: CREATE SCHEMA ${schema} AUTHORIZATION ${role};`)
  }
  if (rights.schemaExists && !rights.mayCreateTables) {
    refuse(
      `Start the service once as the owner of the schema, or as the owner of the database ${database} run: GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${role};`,
    )
  }
}

function missingPrivileges(label: string, { role, schema }: Rights): string {
  const tables = 'SELECT, INSERT, UPDATE, DELETE'
  const statements = [
    `GRANT USAGE ON SCHEMA ${schema} TO ${role};`,
    `GRANT ${tables} ON ALL TABLES IN SCHEMA ${schema} TO ${role};`,
    `GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role};`,
    // For the tables of later migrations.
    `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT ${tables} ON TABLES TO ${role};`,
    `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT USAGE ON SEQUENCES TO ${role};`,
  ]
  return `The role ${role} lacks privileges in the database ${label}. As the owner of its tables run: ${statements.join(' ')}`
}
