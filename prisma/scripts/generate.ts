// Generates a Prisma client per engine (SQLite in generated/, PostgreSQL in generated/postgresql/) and the table
// declarations in generated/tables.ts.
import { rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { datamodelOf, modelsFile, modelsFor, prismaGenerate } from './models.ts'
import { tableDeclarations } from './table-declarations.ts'

const postgresModels = fileURLToPath(new URL('../generated/postgresql.prisma', import.meta.url))

// Prisma fails on files of an interrupted run. The order matters: the first generator clears the folder of the second.
rmSync(dirname(postgresModels), { recursive: true, force: true })
generate(modelsFile)
writeFileSync(postgresModels, modelsFor('postgresql', './postgresql'))
generate(postgresModels)
// From the PostgreSQL models, because only they have BigInt.
writeFileSync(
  new URL('../generated/tables.ts', import.meta.url),
  tableDeclarations(datamodelOf(modelsFor('postgresql'))),
)

function generate(schema: string): void {
  const status = prismaGenerate(schema)
  if (status !== 0) process.exit(status)
}
