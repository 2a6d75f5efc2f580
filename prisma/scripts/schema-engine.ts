import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import { type MigrationList, SchemaEngine, type SchemasContainer } from '@prisma/schema-engine-wasm'

/** The SQLite migration history of this package. */
export const migrationsFolder = fileURLToPath(new URL('../migrations/sqlite', import.meta.url))

/** Nothing in the database is managed by anyone else. */
export const noFilters = { externalTables: [], externalEnums: [] }

/**
 * Prisma's own schema engine, the one behind `prisma migrate`, in the form that needs no download.
 *
 * @param url The database it works on; `:memory:` serves whoever only compares models and migrations.
 */
export async function openSchemaEngine(url = ':memory:'): Promise<SchemaEngine & AsyncDisposable> {
  const factory = new PrismaBetterSqlite3({ url }, { timestampFormat: 'unixepoch-ms' })
  const connection = await factory.connect()
  factory.connect = async () => connection
  const connectToShadowDb = factory.connectToShadowDb.bind(factory)
  factory.connectToShadowDb = async () => {
    const shadow = await connectToShadowDb()
    // The engine sends a whole migration as one query, and the driver takes one statement a query.
    shadow.executeRaw = async ({ sql }) => {
      await shadow.executeScript(sql)
      return 0
    }
    return shadow
  }
  const engine = await SchemaEngine.new(
    { datamodels: undefined },
    () => {},
    bindMigrationAwareSqlAdapterFactory(factory),
  )
  // The engine itself never closes its connection, and with it keeps the file locked.
  return Object.assign(engine, { [Symbol.asyncDispose]: () => connection.dispose() })
}

/** The SQL that leads from the migration history to the models, undefined when they agree. */
export async function schemaDifference(): Promise<string | undefined> {
  await using engine = await openSchemaEngine()
  const { exitCode, stdout } = await engine.diff({
    from: { tag: 'migrations', ...(await readMigrationList()) },
    to: { tag: 'schemaDatamodel', ...(await readModels()) },
    script: true,
    exitCode: true,
    filters: noFilters,
  })
  return exitCode === 2 ? (stdout ?? '') : undefined
}

/** The migration history in the form the engine takes. */
export async function readMigrationList(): Promise<MigrationList> {
  const entries = await readdir(migrationsFolder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return {
    baseDir: migrationsFolder,
    lockfile: {
      path: 'migration_lock.toml',
      content: await readFile(join(migrationsFolder, 'migration_lock.toml'), 'utf8'),
    },
    shadowDbInitScript: '',
    migrationDirectories: await Promise.all(
      names.sort().map(async (name) => ({
        path: name,
        migrationFile: {
          path: 'migration.sql',
          content: { tag: 'ok' as const, value: await readFile(join(migrationsFolder, name, 'migration.sql'), 'utf8') },
        },
      })),
    ),
  }
}

async function readModels(): Promise<SchemasContainer> {
  const path = fileURLToPath(new URL('../schema.prisma', import.meta.url))
  return { files: [{ path, content: await readFile(path, 'utf8') }] }
}
