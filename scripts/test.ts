// Runs the tests of all packages: `npm test` those for every change, `npm test -- --all` all of them. Passes other arguments
// to Vitest.
import { run } from './run-command.mjs'

const args = process.argv.slice(2)
const all = args.includes('--all')
const vitest = ['--reporter=default', '--reporter=json', '--outputFile.json=.turbo/vitest.json']
if (!all) vitest.push('--exclude', '**/*.slow.test.ts', '--passWithNoTests')
vitest.push(...args.filter((argument) => argument !== '--all'))

// The tests of apps/server take half of the time, so they start first. Meanwhile the others run, two packages at a time. What both
// need is built before.
const SERVER = '@resource/server'
const build = await run('turbo', ['run', 'generate', 'build', '--output-logs=errors-only'])
const codes = [
  build.code,
  ...(await Promise.all([
    runTests('test', `--filter=${SERVER}`),
    runTests('test', 'test:scripts', `--filter=!${SERVER}`, '--concurrency=2'),
  ])),
]
process.exitCode = Math.max(...codes)
if (!all)
  console.log('\nnpm run check runs in addition: the slow tests, those of apps/server on PostgreSQL, and the checks.')

/** @returns the exit code */
async function runTests(...tasks: string[]): Promise<number> {
  // apps/server/vitest.config.ts reads the variable: projects of Vitest ignore `--exclude`.
  const env = all ? {} : { VITEST_QUICK: '1' }
  return (await run('turbo', ['run', ...tasks, '--only', '--continue', '--', ...vitest], { env })).code
}
