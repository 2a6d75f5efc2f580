// Writes the next migration of each engine, the difference between its history and the models:
// `pnpm run new-migration add_isbn`.
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startPostgres } from '@resource/postgres-test'
import { type Engine, engines, modelsFile, modelsFor } from './models.ts'
import { postgresSql } from './postgres-sql.ts'
import { historySql, migrationsFolder, readMigrationList, schemaDifference } from './schema-engine.ts'
import { withSearchIndexes } from './search-index.ts'

const name = process.argv[2] ?? ''
if (!/^[a-z][a-z0-9_]*$/.test(name)) fail('Usage: pnpm run new-migration NAME, with NAME such as add_isbn')

const [sqlite, postgresql] = await Promise.all(engines.map(difference))
const models = readFileSync(modelsFile, 'utf8')
const migrations = withSearchIndexes(
  historySql('sqlite'),
  { sqlite: sqlite ?? '', postgresql: postgresql ?? '' },
  models,
)
const pending = engines.filter((engine) => migrations[engine] !== '')
if (pending.length === 0) fail('The models and the migration histories agree: there is nothing to migrate.')

const numbers = await Promise.all(engines.map(lastNumber))
const folder = `${String(Math.max(...numbers) + 1).padStart(4, '0')}_${name}`
for (const engine of pending) {
  const path = join(migrationsFolder(engine), folder)
  await mkdir(path)
  await writeFile(join(path, 'migration.sql'), migrations[engine])
  process.stdout.write(`${join(path, 'migration.sql')}\n`)
}
process.stdout.write('Review the SQL before you commit it. A committed migration must not change.\n')

async function difference(engine: Engine): Promise<string | undefined> {
  if (engine === 'sqlite') return schemaDifference(engine, ':memory:')
  await using server = await startPostgres()
  const sql = await schemaDifference(engine, server.url)
  return sql && postgresSql(sql, modelsFor(engine))
}

async function lastNumber(engine: Engine): Promise<number> {
  const { migrationDirectories } = await readMigrationList(engine)
  return Number.parseInt(migrationDirectories.at(-1)?.path ?? '0', 10)
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
