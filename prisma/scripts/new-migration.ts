// Writes the next migration, the SQL from the migration history to the models: `pnpm run new-migration add_isbn`.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { migrationsFolder, readMigrationList, schemaDifference } from './schema-engine.ts'

const name = process.argv[2] ?? ''
if (!/^[a-z][a-z0-9_]*$/.test(name)) fail('Usage: pnpm run new-migration NAME, with NAME such as add_isbn')

const sql = await schemaDifference()
if (sql === undefined) fail('The models and the migration history agree: there is nothing to migrate.')

const { migrationDirectories } = await readMigrationList()
const number = Number.parseInt(migrationDirectories.at(-1)?.path ?? '0', 10) + 1
const folder = join(migrationsFolder, `${String(number).padStart(4, '0')}_${name}`)
await mkdir(folder)
await writeFile(join(folder, 'migration.sql'), sql)
process.stdout.write(`${join(folder, 'migration.sql')}\nRead it before you commit it; it cannot change afterwards.\n`)

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
