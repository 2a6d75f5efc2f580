// Generates a Prisma client per engine, the SQLite one in generated/ and the PostgreSQL one in generated/postgresql/, and
// the tables' declarations in generated/tables.ts.
import { rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { modelsFile, modelsFor, tablesGenerator } from './models.ts'
import { prismaGenerate } from './prisma-generate.ts'

const postgresModels = fileURLToPath(new URL('../generated/postgresql.prisma', import.meta.url))

// What an interrupted run left is in Prisma's way. Then in this order: the first clears the folder of the second.
rmSync(dirname(postgresModels), { recursive: true, force: true })
generate(modelsFile)
// From PostgreSQL's models, which alone say what is a BigInt there.
writeFileSync(postgresModels, modelsFor('postgresql', './postgresql') + tablesGenerator('./tables.ts'))
generate(postgresModels)

function generate(schema: string): void {
  const status = prismaGenerate(schema)
  if (status !== 0) process.exit(status)
}
