// Runs all checks, or those that its arguments name: the check:* scripts of package.json, and the tests. A check that cannot
// run is reported as NOT CHECKED and counts as neither passed nor failed.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { NOT_CHECKED, root, run, stopping } from './run-command.mjs'
import { resultsIn } from './test-results.ts'
import { buildForTests, runInLanes, type TestTask, testTasks } from './test-tasks.ts'

// They keep two cores busy. With a fourth, each takes longer, and so do all of them together.
const LANES = 3

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
let passed = 0
let failed = 0
const failures: string[] = []

const all = [...Object.keys(scripts).flatMap((name) => /^check:(.*)/.exec(name)?.slice(1) ?? []), 'tests']
const named = process.argv.slice(2)
const unknown = named.filter((name) => !all.includes(name))
if (unknown.length > 0) {
  console.error(`Unknown check "${unknown.join('", "')}": must be one of ${all.join(', ')}.`)
  process.exit(2)
}
const selected = named.length > 0 ? named : all
const checks = selected.filter((name) => name !== 'tests').map((name) => () => runCheck(name))
const hasTests = selected.includes('tests')
if (hasTests && (await report('build', () => buildForTests({ quiet: true }))) === 'FAILED') failed++
const tests = hasTests ? (await testTasks({ all: true })).map((task) => () => runTests(task)) : []
// Most of the tests take longer than any check, so those of three packages, one of them in two parts, start first. Of the checks
// `types` is the first: later ones write files that it would compile.
const jobs = [...tests.slice(0, 3), ...checks.slice(0, 1), ...tests.slice(3, 4), ...checks.slice(1)]
await runInLanes(LANES, [...jobs, ...tests.slice(4)])

// Last, so that they can be read at the end of a long log.
for (const failure of failures) console.log(`FAILED: ${failure}`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

async function runCheck(name: string) {
  // Not `node --run`, which replaces every exit code other than 0 with 1.
  const outcome = await report(name, () => run('npm', ['run', '--silent', `check:${name}`], { quiet: true }))
  if (outcome === 'passed') passed++
  if (outcome === 'FAILED') failed++
}

/** Runs the tests of a package and adds their results. */
async function runTests({ name, report: file, run }: TestTask) {
  rmSync(file, { force: true })
  const outcome = await report(name, () => run({ quiet: true }))
  const results = resultsIn(file, outcome === 'passed')
  failures.push(...results.failures)
  passed += results.passed
  failed += results.failures.length
}

/** Runs something and prints its outcome and, unless it passed, its output. */
async function report(name: string, act: () => ReturnType<typeof run>) {
  if (stopping()) return 'FAILED'
  const begin = performance.now()
  const { code, output } = await act()
  const outcome = code === 0 ? 'passed' : code === NOT_CHECKED ? 'NOT CHECKED' : 'FAILED'
  console.log(`${name}: ${outcome} (${((performance.now() - begin) / 1000).toFixed(1)} s)`)
  if (code !== 0) console.log(output)
  return outcome
}
