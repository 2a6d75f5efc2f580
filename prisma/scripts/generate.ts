// Generates a Prisma client per engine (SQLite in generated/, PostgreSQL in generated/postgresql/) and the table
// declarations in generated/tables.ts.
import { rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { modelsFile, modelsFor, tablesGenerator } from './models.ts'
import { prismaGenerate } from './prisma-generate.ts'

const postgresModels = fileURLToPath(new URL('../generated/postgresql.prisma', import.meta.url))

// Prisma fails on files of an interrupted run. The order matters: the first generator clears the folder of the second.
rmSync(dirname(postgresModels), { recursive: true, force: true })
generate(modelsFile)
// From the PostgreSQL models, because only they have BigInt.
writeFileSync(postgresModels, modelsFor('postgresql', './postgresql') + tablesGenerator('./tables.ts'))
generate(postgresModels)

function generate(schema: string): void {
  const status = prismaGenerate(schema)
  if (status !== 0) process.exit(status)
}
