import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './run-command.mjs'

// docs/reference/configuration.md explains the settings. Tests and benchmarks must run the same ones as production.
test.each([
  'scripts/run.mjs',
  'Dockerfile',
  'deploy/resource.service',
  'tests/src/service.ts',
  'bench/src/programs.ts',
])('%s starts the service with the settings that limit its memory', (path) => {
  const text = readFileSync(join(root, path), 'utf8')
  expect(text.match(/--max-semi-space-size=\d+/g)).toEqual(['--max-semi-space-size=16'])
  expect(text.match(/MALLOC_MMAP_THRESHOLD_\W+\d+/g)?.map((setting) => setting.replace(/\W+/, '='))).toEqual([
    'MALLOC_MMAP_THRESHOLD_=1048576',
  ])
})
