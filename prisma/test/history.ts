import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Engine } from '../scripts/models.ts'
import { migrationsFolder } from '../scripts/schema-engine.ts'
import { readMigrations } from '../src/migration-history.ts'

/** The names of an engine's migrations, in their order. */
export function migrationNames(engine: Engine): string[] {
  return readMigrations(migrationsFolder(engine)).map(({ name }) => name)
}

/** A copy of an engine's migration history in a folder, for a test to change. */
export async function copyHistory(engine: Engine, folder: string): Promise<string> {
  const copy = join(folder, 'migrations')
  await cp(migrationsFolder(engine), copy, { recursive: true })
  return copy
}

export async function addMigration(history: string, name: string, sql: string): Promise<void> {
  await mkdir(join(history, name))
  await writeFile(join(history, name, 'migration.sql'), sql)
}
