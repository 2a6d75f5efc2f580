// Generates a Prisma client per engine, the SQLite one in generated/ and the PostgreSQL one in generated/postgresql/.
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { modelsFile, modelsFor } from './models.ts'

const cli = createRequire(import.meta.url).resolve('prisma/build/index.js')
const postgresModels = fileURLToPath(new URL('../generated/postgresql.prisma', import.meta.url))

// What an interrupted run left is in Prisma's way. Then in this order: the first clears the folder of the second.
rmSync(dirname(postgresModels), { recursive: true, force: true })
generate(modelsFile)
writeFileSync(postgresModels, modelsFor('postgresql', './postgresql'))
generate(postgresModels)

function generate(schema: string): void {
  const { status } = spawnSync(process.execPath, [cli, 'generate', '--schema', schema, '--no-hints'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: {
      // The CLI downloads a schema engine for every command unless this names a file; `generate` never runs it.
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      CHECKPOINT_DISABLE: '1',
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      ...process.env,
    },
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}
