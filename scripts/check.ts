// Everything a change must pass: the check:* scripts of package.json, one after another, then the tests.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root, run, stopping } from './child.mjs'
import { countTests } from './test-counts.ts'

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
let passed = 0
let failed = 0

for (const name of Object.keys(scripts).filter((name) => name.startsWith('check:'))) {
  if (await check(name.slice('check:'.length), 'node', ['--run', name])) passed++
  else failed++
}
const tests = await runTests()
passed += tests.passed
failed += tests.failed

console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

async function check(name: string, command: string, args: string[]) {
  if (stopping()) return false
  const begin = performance.now()
  const { code, output } = await run(command, args, { quiet: true })
  console.log(`${name}: ${code === 0 ? 'passed' : 'FAILED'} (${((performance.now() - begin) / 1000).toFixed(1)} s)`)
  if (code !== 0) console.log(output)
  return code === 0
}

/** Runs `npm test` and sums what every package's own runner counted; a runner that left no count has failed. */
async function runTests() {
  const results = await resultFiles()
  for (const file of results) rmSync(file, { force: true })
  const ended = await check('tests', 'npm', ['test'])
  return countTests(results, ended)
}

async function resultFiles() {
  const plan = await run('turbo', ['run', 'test', 'test:scripts', '--dry=json'], { quiet: true })
  const { tasks } = JSON.parse(plan.stdout) as {
    tasks: { task: string; command: string; directory: string }[]
  }
  return tasks
    .filter(({ task, command }) => task.startsWith('test') && command !== '<NONEXISTENT>')
    .map(({ directory }) => join(root, directory, '.turbo', 'vitest.json'))
}
