// @ts-check
// npm start, npm test, npm run dev, npm run check, npm run bench, npm run test:torture, npm run cluster, npm run new, npm run pack, npm run
// release, npm run seed. Requires Node.js 20.19 and npm; installs the rest (pnpm, packages, Node.js 24).
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { environment, root, run } from './run-command.mjs'

/** @type {Record<string, string[]>} */
const COMMANDS = {
  start: ['--max-semi-space-size=16', 'apps/server/src/main.ts'],
  dev: ['scripts/dev/main.ts'],
  test: ['scripts/test.ts'],
  check: ['scripts/check.ts'],
  bench: ['bench/src/main.ts'],
  cluster: ['scripts/cluster.ts'],
  torture: ['tests/src/main.ts'],
  new: ['scripts/new/main.ts'],
  seed: ['apps/server/scripts/seed/main.ts'],
  pack: ['scripts/packages/pack.ts'],
  release: ['scripts/release.ts'],
}
// The service's alone. The first caches the compiled code without types: later starts are faster and take a sixth less memory. The
// second and the flag of `start` reduce memory usage: docs/reference/configuration.md.
const OF_SERVICE = {
  NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node'),
  MALLOC_MMAP_THRESHOLD_: '1048576',
}
// pnpm, as `packageManager` names it without its hash, and its folder.
const KNOWN = join(root, 'node_modules/.cache/pnpm')
const WITHOUT_ARGUMENTS = ['start', 'dev', 'pack']

const [command = 'start', ...extra] = process.argv.slice(2)
const program = COMMANDS[command]
if (program === undefined) {
  console.error(`Unknown command "${command}": must be one of ${Object.keys(COMMANDS).join(', ')}.`)
  process.exit(2)
}
if (WITHOUT_ARGUMENTS.includes(command) && extra.length > 0) {
  console.error(`npm run ${command} takes no arguments. Settings are environment variables, for example PORT=8080.`)
  process.exit(2)
}
const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

// turbo needs pnpm in the PATH. The pinned one comes before an installed one. The hash is for Corepack.
const pnpm = packageManager.replace(/\+.*/, '')
const known = knownFolder()
const folder = known ?? (await fetched())
environment.PATH = [join(root, 'node_modules', '.bin'), folder, process.env.PATH].join(delimiter)
// CI disables pnpm's prompts. With the store of another HOME, pnpm would replace the packages under a running service.
await step('Installing packages', 'pnpm', ['install', '--frozen-lockfile', ...storeOf('node_modules/.modules.yaml')], {
  CI: 'true',
})
if (known === undefined) {
  mkdirSync(dirname(KNOWN), { recursive: true })
  writeFileSync(KNOWN, `${pnpm}\n${folder}\n`)
}
// `new` changes the sources, so a build before it would be outdated. `seed` and `dev` need no built console.
const tasks = ['new', 'seed', 'dev', 'release'].includes(command) ? ['generate'] : ['generate', 'build']
await step(tasks.includes('build') ? 'Building' : 'Generating code', 'turbo', [
  'run',
  ...tasks,
  '--output-logs=errors-only',
])

if (command === 'bench') {
  await step('Building what is compared', 'turbo', [
    'run',
    'peers',
    '--filter=@resource/bench',
    '--output-logs=errors-only',
  ])
}
// With this process's terminal.
process.exitCode = (await run('node', [...program, ...extra], { env: command === 'start' ? OF_SERVICE : {} })).code

/** The folder of pnpm, if an earlier run has fetched this version: npx takes two seconds to say where it is. */
function knownFolder() {
  if (!existsSync(KNOWN)) return undefined
  const [version, folder = ''] = readFileSync(KNOWN, 'utf8').split('\n')
  return version === pnpm && existsSync(join(folder, 'pnpm')) ? folder : undefined
}

/** npx downloads pnpm once, and puts its folder first in its own PATH. */
async function fetched() {
  const program = ['node', '-p', 'process.env.PATH']
  const path = await step('Fetching pnpm', 'npx', ['-y', '--prefer-offline', '-p', pnpm, '--', ...program])
  return path.trim().split(delimiter)[0]
}

/**
 * The option for the store from which the packages were installed.
 *
 * @param {string} record
 * @returns {string[]}
 */
function storeOf(record) {
  if (!existsSync(join(root, record))) return []
  const [, store] = /"?storeDir"?: "?([^"\n]+)/.exec(readFileSync(join(root, record), 'utf8')) ?? []
  // pnpm appends the version of the store itself.
  return store === undefined ? [] : [`--store-dir=${store.replace(/[\\/]v\d+$/, '')}`]
}

/**
 * Runs a tool and prints one line with its name: what it does. On failure it prints the tool's output and exits.
 *
 * @param {string} name
 * @param {string} tool
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<string>} stdout of the tool
 */
async function step(name, tool, args, env = {}) {
  const begin = performance.now()
  // On a terminal the line shows what is going on, then how it ended.
  const { isTTY } = process.stderr
  if (isTTY) process.stderr.write(`${name}… `)
  const { code, stdout, output } = await run(tool, args, { quiet: true, env })
  const outcome = `${code === 0 ? 'done' : 'failed'}, ${((performance.now() - begin) / 1000).toFixed(1)} s`
  console.error(isTTY ? outcome : `${name}: ${outcome}`)
  if (code === 0) return stdout
  console.error(output)
  if (command === 'check') console.log('0 passed, 1 failed')
  return process.exit(code)
}
