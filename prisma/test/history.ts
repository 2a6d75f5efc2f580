import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Engine } from '../scripts/models.ts'
import { migrationsFolder } from '../scripts/schema-engine.ts'
import { readMigrations } from '../src/migration-history.ts'

/** The names of an engine's migrations in order. */
export function migrationNames(engine: Engine): string[] {
  return readMigrations(migrationsFolder(engine)).map(({ name }) => name)
}

/** Copies an engine's migration history into a folder, so that a test can change it. */
export async function copyHistory(engine: Engine, folder: string): Promise<string> {
  const copy = join(folder, 'migrations')
  await cp(migrationsFolder(engine), copy, { recursive: true })
  return copy
}

export async function addMigration(history: string, name: string, sql: string): Promise<void> {
  await mkdir(join(history, name))
  await writeFile(join(history, name, 'migration.sql'), sql)
}
