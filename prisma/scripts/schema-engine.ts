import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import { PrismaPg } from '@prisma/adapter-pg'
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlQuery,
  type SqlQueryable,
} from '@prisma/driver-adapter-utils'
import { type MigrationList, SchemaEngine } from '@prisma/schema-engine-wasm'
import type pg from 'pg'
import { readMigrations } from '../src/migration-history.ts'
import { type Rename, renamingSql } from './losses.ts'
import { type Engine, modelsFile, modelsFor } from './models.ts'
import { searchedTablesIn, searchTablesOf } from './search-index.ts'

/** The folder of an engine's migration history. */
export function migrationsFolder(engine: Engine): string {
  return fileURLToPath(new URL(`../migrations/${engine}`, import.meta.url))
}

/** What a schema engine ignores that compares no migration history. */
export const noFilters = { externalTables: [], externalEnums: [] }

/** What the schema engine ignores because a model cannot express it: on SQLite the tables of the search indexes. */
export function filtersFor(engine: Engine) {
  const searched = engine === 'sqlite' ? searchedTablesIn(historySql(engine)) : []
  return { ...noFilters, externalTables: searched.flatMap(searchTablesOf) }
}

/** The SQL of an engine's migration history. */
export function historySql(engine: Engine): string {
  const migrations = readMigrations(migrationsFolder(engine))
  return migrations.map(({ sql }) => sql).join('\n')
}

/**
 * Prisma's schema engine, as used by `prisma migrate`, as WebAssembly, which needs no download.
 *
 * @param url the database. To compare models and migrations only: `:memory:`, or any database of a PostgreSQL server on which
 * the engine may create another one
 */
export async function openSchemaEngine(engine: Engine, url: string): Promise<SchemaEngine & AsyncDisposable> {
  const factory = engine === 'sqlite' ? sqliteFactory(url) : postgresFactory(url)
  const connection = await factory.connect()
  factory.connect = async () => connection
  const adapter = bindMigrationAwareSqlAdapterFactory(factory)
  const schemaEngine = await SchemaEngine.new({ datamodels: undefined }, () => {}, adapter)
  // The engine never closes its connection, which keeps the file locked.
  return Object.assign(schemaEngine, { [Symbol.asyncDispose]: () => connection.dispose() })
}

// No model expresses them, and the engine fails to describe them.
const PARTIAL_INDEXES = /^CREATE INDEX [^;]* WHERE [^;]*;$/gm

function sqliteFactory(url: string): PrismaBetterSqlite3 {
  const factory = new PrismaBetterSqlite3({ url }, { timestampFormat: 'unixepoch-ms' })
  const connectToShadowDb = factory.connectToShadowDb.bind(factory)
  factory.connectToShadowDb = async () => {
    const shadow = await connectToShadowDb()
    // The engine sends a whole migration as one query, but the driver accepts one statement per query.
    shadow.executeRaw = async ({ sql }) => {
      await shadow.executeScript(sql.replace(PARTIAL_INDEXES, ''))
      return 0
    }
    return shadow
  }
  return factory
}

function postgresFactory(url: string): PrismaPg {
  const factory = new PrismaPg({ connectionString: url })
  const connect = factory.connect.bind(factory)
  const connectToShadowDb = factory.connectToShadowDb.bind(factory)
  factory.connect = async () => withCharacters(withWholeScripts(await connect()))
  factory.connectToShadowDb = async () => withCharacters(withWholeScripts(await connectToShadowDb()))
  return factory
}

/** The adapter splits a script at each semicolon, also inside a DO block. */
function withWholeScripts<Connection extends SqlDriverAdapter>(connection: Connection): Connection {
  const { client } = connection as Connection & { client: pg.Pool }
  return Object.assign(connection, {
    executeScript: async (script: string) => {
      await client.query(script)
    },
  })
}

const CHARACTER_OID = 18
const TEXT_OID = 25

/** The engine reads catalog columns of the type "char", which the adapter rejects. */
function withCharacters<Connection extends SqlQueryable>(connection: Connection): Connection {
  const { performIO, queryRaw } = connection as Connection & { performIO(query: SqlQuery): Promise<pg.QueryResult> }
  connection.queryRaw = async (query) => {
    const characters = new Set<string>()
    const asText = Object.assign(Object.create(connection), {
      performIO: async (sent: SqlQuery) => {
        const result = await performIO.call(connection, sent)
        for (const field of result.fields.filter(({ dataTypeID }) => dataTypeID === CHARACTER_OID)) {
          field.dataTypeID = TEXT_OID
          characters.add(field.name)
        }
        return result
      },
    })
    const result = await queryRaw.call(asText, query)
    for (const [index, name] of result.columnNames.entries()) {
      if (characters.has(name)) result.columnTypes[index] = ColumnTypeEnum.Character
    }
    return result
  }
  return connection
}

/**
 * The SQL from an engine's migration history to the models; undefined when they agree.
 *
 * @param url as for {@link openSchemaEngine}
 * @param change `renames`: columns that the SQL renames first; `models`: other models than those of the file
 */
export async function schemaDifference(
  engine: Engine,
  url: string,
  { renames = [], models }: { renames?: readonly Rename[]; models?: string } = {},
): Promise<string | undefined> {
  const renaming = renamingSql(renames)
  const history = await readMigrationList(engine)
  if (renaming !== '') history.migrationDirectories.push(migrationOf('9999_renames', renaming))
  await using schemaEngine = await openSchemaEngine(engine, url)
  const { exitCode, stdout } = await schemaEngine.diff({
    from: { tag: 'migrations', ...history },
    to: { tag: 'schemaDatamodel', files: [{ path: modelsFile, content: modelsFor(engine, undefined, models) }] },
    script: true,
    exitCode: true,
    filters: filtersFor(engine),
  })
  const sql = renaming + (exitCode === 2 ? (stdout ?? '') : '')
  return sql === '' ? undefined : sql
}

/** The migration history in the schema engine's format. */
export async function readMigrationList(engine: Engine): Promise<MigrationList> {
  const baseDir = migrationsFolder(engine)
  const content = await readFile(join(baseDir, 'migration_lock.toml'), 'utf8')
  return {
    baseDir,
    lockfile: { path: 'migration_lock.toml', content },
    shadowDbInitScript: '',
    migrationDirectories: readMigrations(baseDir).map(({ name, sql }) => migrationOf(name, sql)),
  }
}

function migrationOf(path: string, value: string): MigrationList['migrationDirectories'][number] {
  return { path, migrationFile: { path: 'migration.sql', content: { tag: 'ok', value } } }
}
