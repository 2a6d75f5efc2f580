// Runs all checks, or those that its arguments name: the check:* scripts of package.json, then the tests. A check that cannot
// run is reported as NOT CHECKED and counts as neither passed nor failed.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { NOT_CHECKED, root, run, stopping } from './run-command.mjs'
import { countTests, describeFailures } from './test-counts.ts'

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
let passed = 0
let failed = 0

const all = [...Object.keys(scripts).flatMap((name) => /^check:(.*)/.exec(name)?.slice(1) ?? []), 'tests']
const named = process.argv.slice(2)
const unknown = named.filter((name) => !all.includes(name))
if (unknown.length > 0) {
  console.error(`Unknown check "${unknown.join('", "')}": must be one of ${all.join(', ')}.`)
  process.exit(2)
}
const selected = named.length > 0 ? named : all
// Three at a time: many of them use one core or wait for a download. The longest come first in package.json, so that all three
// are busy until the end.
const checks = selected.filter((name) => name !== 'tests')
await Promise.all([runChecks(), runChecks(), runChecks()])
if (selected.includes('tests')) {
  const tests = await runTests()
  passed += tests.passed
  failed += tests.failed
}

console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

async function runChecks() {
  for (let name = checks.shift(); name !== undefined; name = checks.shift()) {
    // Not `node --run`, which replaces every exit code other than 0 with 1.
    const outcome = await check(name, 'npm', ['run', '--silent', `check:${name}`])
    if (outcome === 'passed') passed++
    if (outcome === 'FAILED') failed++
  }
}

async function check(name: string, command: string, args: string[]) {
  if (stopping()) return 'FAILED'
  const begin = performance.now()
  const { code, output } = await run(command, args, { quiet: true })
  const outcome = code === 0 ? 'passed' : code === NOT_CHECKED ? 'NOT CHECKED' : 'FAILED'
  console.log(`${name}: ${outcome} (${((performance.now() - begin) / 1000).toFixed(1)} s)`)
  if (code !== 0) console.log(output)
  return outcome
}

/** Runs all tests and sums the counts of all packages. A package without a report counts as one failure. */
async function runTests() {
  const results = await resultFiles()
  for (const file of results) rmSync(file, { force: true })
  const ended = (await check('tests', 'node', ['scripts/test.ts', '--all'])) === 'passed'
  for (const failure of describeFailures(results)) console.log(`FAILED: ${failure}`)
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
