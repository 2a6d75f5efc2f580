import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
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

/** Copies the migrations of an engine whose names come before `end`, as the history of an earlier version. */
export async function copyHistoryBefore(engine: Engine, end: string, folder: string): Promise<string> {
  const copy = await copyHistory(engine, folder)
  const later = migrationNames(engine).filter((name) => name >= end)
  for (const name of later) await rm(join(copy, name), { recursive: true })
  return copy
}

export async function addMigration(history: string, name: string, sql: string): Promise<void> {
  await mkdir(join(history, name))
  await writeFile(join(history, name, 'migration.sql'), sql)
}
