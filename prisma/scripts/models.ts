import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const engines = ['sqlite', 'postgresql'] as const
export type Engine = (typeof engines)[number]

/** Where the models are: one file for all engines. */
export const modelsFile = fileURLToPath(new URL('../schema.prisma', import.meta.url))

/**
 * The models as Prisma takes them for one engine; it knows one at a time. What counts writes rather than records outgrows
 * an Int on PostgreSQL; on SQLite every id has 64 bits, and only an Int is given by the engine.
 *
 * @param output where the client generated from them goes, relative to the file they are in
 */
export function modelsFor(engine: Engine, output = './generated'): string {
  return readFileSync(modelsFile, 'utf8')
    .replace('provider = "sqlite"', `provider = "${engine}"`)
    .replace('"./generated"', `"${output}"`)
    .replace(/\bInt\b(?=.*\/\/ BigInt on PostgreSQL)/g, engine === 'postgresql' ? 'BigInt' : 'Int')
}

/**
 * A generator block that makes Prisma write the tables' declarations as well.
 *
 * @param output relative to the file of the models
 */
export function tablesGenerator(output: string): string {
  const script = fileURLToPath(new URL('declare-tables.ts', import.meta.url))
  // Prisma runs it by a shell.
  const provider = [process.execPath, script].map((path) => JSON.stringify(path)).join(' ')
  return `
generator tables {
  provider = ${JSON.stringify(provider)}
  output   = ${JSON.stringify(output)}
}
`
}
