// Runs the tests of all packages: `npm test` those for every change, `npm test -- --all` all of them. Passes other arguments
// to Vitest.
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { root, run } from './run-command.mjs'

const SLOW = '.slow.test.ts'

const args = process.argv.slice(2)
const all = args.includes('--all')
const vitest = ['--reporter=default', '--reporter=json', '--outputFile.json=.turbo/vitest.json']
if (!all) vitest.push('--exclude', `**/*${SLOW}`, '--passWithNoTests')
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
if (!all) console.log(remainder())

/** @returns the exit code */
async function runTests(...tasks: string[]): Promise<number> {
  // apps/server/vitest.config.ts reads the variable: projects of Vitest ignore `--exclude`.
  const env = all ? {} : { VITEST_QUICK: '1' }
  return (await run('turbo', ['run', ...tasks, '--only', '--continue', '--', ...vitest], { env })).code
}

/** What `npm run check` runs in addition to `npm test`. */
function remainder(): string {
  const slow = globSync(`{apps,packages}/*/{src,test}/**/*${SLOW}`, { cwd: root })
    .concat(globSync(`{prisma,tests,bench,scripts}/**/*${SLOW}`, { cwd: root, exclude: ['**/node_modules/**'] }))
    .sort()
  const folders = Object.entries(Object.groupBy(slow, dirname))
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const checks = Object.keys(scripts).filter((name) => name.startsWith('check:'))
  return `
npm run check runs in addition:
  the tests of apps/server on PostgreSQL (npm test -- --all includes them and the slow tests)
  slow tests:
${folders.map(([folder, files = []]) => `    ${folder}: ${files.map((file) => basename(file, SLOW)).join(', ')}`).join('\n')}
  checks: ${checks.map((name) => name.slice('check:'.length)).join(', ')}`
}
