import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const cli = createRequire(import.meta.url).resolve('prisma/build/index.js')

/**
 * Runs the generators of a schema file and returns the exit status.
 *
 * @param stdio destination of their output; by default that of this process
 */
export function prismaGenerate(schema: string, stdio: 'inherit' | 'ignore' = 'inherit'): number {
  const { status } = spawnSync(process.execPath, [cli, 'generate', '--schema', schema, '--no-hints'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: {
      // Without this the CLI downloads a schema engine for every command. `generate` never runs it, so any file works.
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      CHECKPOINT_DISABLE: '1',
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      ...process.env,
    },
    stdio,
  })
  return status ?? 1
}
