// npm start, npm test, npm run check, npm run bench, npm run test:torture, npm run new, npm run pack: needs Node 20.19 and npm, and brings the rest (pnpm, packages, Node 24) itself.
import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { environment, root, run } from './child.mjs'

const [command = 'start', ...extra] = process.argv.slice(2)
const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const vitest = ['--reporter=default', '--reporter=json', '--outputFile.json=.turbo/vitest.json']

// npx fetches pnpm, once, and knows where it lies; turbo looks for it on the PATH.
const path = await step('pnpm', 'npx', [
  '-y',
  '--prefer-offline',
  '-p',
  packageManager,
  '--',
  'node',
  '-p',
  'process.env.PATH',
])
environment.PATH += delimiter + path.trim()
// CI keeps pnpm from asking questions.
await step('install', 'pnpm', ['install', '--frozen-lockfile'], { CI: 'true' })
// A new resource changes what is built.
const made = command === 'new' ? ['generate'] : ['generate', 'build']
await step('generate', 'turbo', ['run', ...made, '--output-logs=errors-only'])

switch (command) {
  case 'start':
    await finish('node', ['--max-semi-space-size=16', 'apps/server/src/main.ts'], {
      // Node keeps what it compiled, types taken out: the next start is faster, and takes a sixth less memory.
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node'),
      // This and the flag keep memory down: docs/reference/configuration.md.
      MALLOC_MMAP_THRESHOLD_: '1048576',
    })
    break
  case 'test':
    // Each package has as many tests at work as there are cores: more packages at a time would only wait for each other.
    await finish('turbo', ['run', 'test', 'test:scripts', '--continue', '--concurrency=2', '--', ...vitest, ...extra])
    break
  case 'check':
    await finish('node', ['scripts/check.ts'])
    break
  case 'bench':
    await step('peers', 'turbo', ['run', 'peers', '--filter=@resource/bench', '--output-logs=errors-only'])
    await finish('node', ['bench/src/main.ts', ...extra])
    break
  case 'torture':
    await finish('node', ['tests/src/main.ts', ...extra])
    break
  case 'new':
    await finish('node', ['scripts/new/main.ts', ...extra])
    break
  case 'pack':
    await finish('node', ['scripts/packages/main.ts'])
    break
  default:
    console.error(`There is no command "${command}": start, test, check, bench, torture, new or pack.`)
    process.exitCode = 2
}

/**
 * One line while all goes well; the tool's own words, and the end, when it does not.
 *
 * @param {string} name
 * @param {string} tool
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<string>} what the tool wrote to stdout
 */
async function step(name, tool, args, env = {}) {
  const begin = performance.now()
  const { code, stdout, output } = await run(tool, args, { quiet: true, env })
  console.error(`${name} ${code === 0 ? 'done' : 'failed'} (${((performance.now() - begin) / 1000).toFixed(1)} s)`)
  if (code === 0) return stdout
  console.error(output)
  if (command === 'check') console.log('0 passed, 1 failed')
  return process.exit(code)
}

/**
 * Hands terminal and exit code to the last command.
 *
 * @param {string} tool
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
async function finish(tool, args, env = {}) {
  process.exitCode = (await run(tool, args, { env })).code
}
