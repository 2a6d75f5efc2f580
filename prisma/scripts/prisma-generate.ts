import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const cli = createRequire(import.meta.url).resolve('prisma/build/index.js')

/** Runs the generators of a file of models. What they print goes where this process prints; the exit status is given. */
export function prismaGenerate(schema: string): number {
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
  return status ?? 1
}
