import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../run-command.mjs'

test.each([
  [['orders'], 'npm run new -- --remove orders'],
  [['people', '--one=person'], 'npm run new -- --remove people --one=person'],
])('the command that removes %j again has the singular if it was specified', (args, removal) => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/new/main.ts'), ...args], {
    encoding: 'utf8',
  })
  expect([status, stderr.trim().split('\n').at(-1)]).toEqual([1, `To remove a resource: ${removal}`])
})
