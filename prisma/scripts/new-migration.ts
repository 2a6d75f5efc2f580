// Writes the next migration of each engine, the difference between its history and the models:
// `npm run new-migration add_isbn`.
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startPostgres } from '@resource/postgres-test'
import { breaksIn, lossesIn, readRename } from './losses.ts'
import { type Engine, engines, modelsFile, modelsFor } from './models.ts'
import { postgresSql, separateIndexes } from './postgres-sql.ts'
import { historySql, migrationsFolder, readMigrationList, schemaDifference } from './schema-engine.ts'
import { withSearchIndexes } from './search-index.ts'

const USAGE = 'Usage: npm run new-migration add_isbn [-- --rename items.colour=color] [--drop books.isbn]'
const { values, positionals } = readArguments()
const [name = ''] = positionals
if (!/^[a-z][a-z0-9_]*$/.test(name) || positionals.length > 1) fail(USAGE)
const renames = (values.rename ?? []).map((text) => readRename(text) ?? fail(`--rename ${text}: ${USAGE}`))

const [sqlite, postgresql] = await Promise.all(engines.map(difference))
const models = readFileSync(modelsFile, 'utf8')
const migrations = withSearchIndexes(
  historySql('sqlite'),
  { sqlite: sqlite ?? '', postgresql: postgresql ?? '' },
  models,
)
const losses = lossesIn(migrations.postgresql).filter((lost) => !values.drop?.includes(lost))
if (losses.length > 0) {
  const [lost = ''] = losses
  const [table, column] = lost.includes('.') ? lost.split('.') : ['items', 'colour']
  fail(`No migration was written, because it would delete the data of ${losses.join(', ')}.
If a column has a new name, add: -- --rename ${table}.${column}=NEW_NAME
If the data is not needed, add: -- ${losses.map((loss) => `--drop ${loss}`).join(' ')}`)
}
if (engines.every((engine) => migrations[engine] === ''))
  fail('The models and the migration histories agree: there is nothing to migrate.')

const numbers = await Promise.all(engines.map(lastNumber))
let number = Math.max(...numbers)
const breaks = breaksIn(migrations.postgresql)
const isCompatible = migrations.postgresql !== '' && breaks.length === 0
const separated = separateIndexes(migrations.postgresql)
await write(name, isCompatible, { ...migrations, postgresql: separated.sql })
for (const { name, sql } of separated.indexes) await write(name, breaksIn(sql).length === 0, { postgresql: sql })
process.stdout.write('Review the SQL before you commit it. A committed migration must not change.\n')
if (!isCompatible) {
  process.stdout.write(`Earlier versions of the service refuse a database with this migration: it is not only an addition.
${breaks.join('\n')}\n`)
}

async function write(name: string, isCompatible: boolean, sql: Partial<Record<Engine, string>>): Promise<void> {
  const folder = `${String(++number).padStart(4, '0')}_${isCompatible ? 'compatible_' : ''}${name}`
  for (const engine of engines.filter((engine) => sql[engine])) {
    const path = join(migrationsFolder(engine), folder)
    await mkdir(path)
    await writeFile(join(path, 'migration.sql'), sql[engine] ?? '')
    process.stdout.write(`${join(path, 'migration.sql')}\n`)
  }
}

async function difference(engine: Engine): Promise<string | undefined> {
  if (engine === 'sqlite') return schemaDifference(engine, ':memory:', { renames })
  await using server = await startPostgres()
  const sql = await schemaDifference(engine, server.url, { renames })
  return sql && postgresSql(sql, modelsFor(engine))
}

async function lastNumber(engine: Engine): Promise<number> {
  const { migrationDirectories } = await readMigrationList(engine)
  return Number.parseInt(migrationDirectories.at(-1)?.path ?? '0', 10)
}

function readArguments() {
  const options = { rename: { type: 'string', multiple: true }, drop: { type: 'string', multiple: true } } as const
  try {
    return parseArgs({ options, allowPositionals: true })
  } catch (error) {
    return fail(`${(error as Error).message}\n${USAGE}`)
  }
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
