// Everything a change must pass: the check:* scripts of package.json, one after another, then the tests. What could not
// be checked is said, and counts as neither.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { NOT_CHECKED, root, run, stopping } from './child.mjs'
import { countTests } from './test-counts.ts'

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
let passed = 0
let failed = 0

for (const name of Object.keys(scripts).filter((name) => name.startsWith('check:'))) {
  // Not `node --run`, which makes every exit code but 0 a 1.
  const outcome = await check(name.slice('check:'.length), 'npm', ['run', '--silent', name])
  if (outcome === 'passed') passed++
  if (outcome === 'FAILED') failed++
}
const tests = await runTests()
passed += tests.passed
failed += tests.failed

console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

async function check(name: string, command: string, args: string[]) {
  if (stopping()) return 'FAILED'
  const begin = performance.now()
  const { code, output } = await run(command, args, { quiet: true })
  const outcome = code === 0 ? 'passed' : code === NOT_CHECKED ? 'NOT CHECKED' : 'FAILED'
  console.log(`${name}: ${outcome} (${((performance.now() - begin) / 1000).toFixed(1)} s)`)
  if (code !== 0) console.log(output)
  return outcome
}

/** Runs `npm test` and sums what every package's own runner counted; a runner that left no count has failed. */
async function runTests() {
  const results = await resultFiles()
  for (const file of results) rmSync(file, { force: true })
  const ended = (await check('tests', 'npm', ['test'])) === 'passed'
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
