// Runs the Prisma CLI without it reaching for the network: `node scripts/prisma.mjs generate`.
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const cli = createRequire(import.meta.url).resolve('prisma/build/index.js')

const { status } = spawnSync(process.execPath, [cli, ...process.argv.slice(2)], {
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
process.exit(status ?? 1)
