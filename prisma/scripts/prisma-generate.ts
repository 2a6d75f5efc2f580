import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const cli = createRequire(import.meta.url).resolve('prisma/build/index.js')

/**
 * Runs the generators of a file of models, and gives the exit status.
 *
 * @param stdio where their output goes: to that of this process when absent
 */
export function prismaGenerate(schema: string, stdio: 'inherit' | 'ignore' = 'inherit'): number {
  const { status } = spawnSync(process.execPath, [cli, 'generate', '--schema', schema, '--no-hints'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: {
      // The CLI downloads a schema engine for every command unless this names a file; `generate` never runs it.
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      CHECKPOINT_DISABLE: '1',
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      ...process.env,
    },
    stdio,
  })
  return status ?? 1
}
