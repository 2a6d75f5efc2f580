import { expect, test } from 'vitest'
import { run } from './run-command.mjs'

test('a check can run alone, by its name', async () => {
  const { code, output } = await run('node', ['scripts/check.ts', 'circles'], { quiet: true })
  expect([code, output]).toEqual([0, expect.stringMatching(/^circles: passed \(.* s\)\n1 passed, 0 failed\n$/)])
})

test('a check that does not exist is refused with the names of all', async () => {
  const { code, output } = await run('node', ['scripts/check.ts', 'circles', 'docks'], { quiet: true })
  expect([code, output]).toEqual([
    2,
    expect.stringMatching(/^Unknown check "docks": must be one of types, .*, tests\.\n$/),
  ])
})
