// Generates the peers' Prisma clients, one per engine, from the service's models.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

const bench = resolve(import.meta.dirname, '..')
const require = createRequire(import.meta.url)
const models = readFileSync(join(bench, '../prisma/schema.prisma'), 'utf8').replace(
  /^(generator|datasource) .*?^}$/gms,
  '',
)

mkdirSync(join(bench, 'generated'), { recursive: true })
for (const provider of ['sqlite', 'postgresql']) {
  const schema = join(bench, 'generated', `${provider}.prisma`)
  writeFileSync(
    schema,
    `generator client {
  provider            = "prisma-client"
  output              = "./${provider}"
  importFileExtension = "ts"
}

datasource db {
  provider = "${provider}"
}
${models}`,
  )
  run(require.resolve('prisma/build/index.js'), ['generate', '--schema', schema])
}

/**
 * @param {string} script
 * @param {string[]} args
 */
function run(script, args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd: bench,
    encoding: 'utf8',
    env: {
      ...process.env,
      // Prevents Prisma from downloading its engine.
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      CHECKPOINT_DISABLE: '1',
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
    },
  })
  if (status === 0) return
  process.stderr.write(stdout + stderr)
  process.exit(1)
}
