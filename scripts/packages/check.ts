// Checks the packages that others may install: has publint and arethetypeswrong look at them, installs them as a stranger
// does, with each package manager, and starts the example of the adapter's README.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { environment, root } from '../child.mjs'
import { pack } from './pack.ts'

const execute = promisify(execFile)

const YARN = 'yarn@1.22.22'
const INSTALLS = {
  npm: ['npm', 'install', '--no-audit', '--no-fund'],
  pnpm: ['pnpm', 'install', '--no-frozen-lockfile'],
  yarn: ['npx', '-y', YARN, 'install', '--non-interactive', '--no-lockfile'],
}

const CONFIG = JSON.stringify({
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.asynciterable'],
    module: 'nodenext',
    strict: true,
    noEmit: true,
    // trpc-openapi's own types name packages that nobody installs.
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  },
})

const CLIENT = `import { createClient } from '@resource/openapi/client'
import type { contract } from './server.ts'
import { isServiceError } from '@resource/client'

const client = createClient<typeof contract>({ baseUrl: 'http://127.0.0.1:3000' })
const planet = await client.planets.get.query({ id: 6 })
const code = await client.planets.get.query({ id: 7 }).catch((error: unknown) => isServiceError(error) && error.code)
console.log(JSON.stringify([planet.name satisfies string, code]))
`

const EXPECTED = [
  [200, { id: 6, name: 'Saturn' }],
  [404, { error: 'Planet not found' }],
  [400, { error: 'id: must be a whole number' }],
  [404, { error: 'Path not found' }],
  ['Saturn', 'not_found'],
]

const place = await mkdtemp(join(tmpdir(), 'packages-'))
try {
  const [openapi = '', client = ''] = await pack(place)
  for (const tarball of [openapi, client]) {
    const faults = await faultsOf(await readFile(tarball))
    console.log(`${basename(tarball)}: ${faults.length === 0 ? 'fine' : faults.join('\n')}`)
    if (faults.length > 0) process.exitCode = 1
  }
  const program = example(await readFile(join(root, 'packages/openapi/README.md'), 'utf8'))
  for (const [name, [command = '', ...args]] of Object.entries(INSTALLS)) {
    const project = join(place, name)
    await mkdir(project)
    await writeFile(join(project, 'package.json'), manifest(openapi, client))
    await writeFile(join(project, 'server.ts'), program)
    await writeFile(join(project, 'client.ts'), CLIENT)
    await writeFile(join(project, 'tsconfig.json'), CONFIG)
    try {
      await execute(command, args, { cwd: project, env: { ...environment, CI: 'true' } })
      const tsc = join(root, 'node_modules/typescript/bin/tsc')
      await execute(process.execPath, [tsc, '-p', project])
      await answersOf(project)
      console.log(`${name}: fine`)
    } catch (error) {
      const { message, stdout = '' } = error as Error & { stdout?: string }
      console.log(`${name}: ${message}\n${stdout}`)
      process.exitCode = 1
    }
  }
} finally {
  await rm(place, { recursive: true, force: true })
}

/** What publint and arethetypeswrong find wrong with a package. */
async function faultsOf(tarball: Buffer): Promise<string[]> {
  const { messages } = await publint({ pack: { tarball: new Uint8Array(tarball).buffer }, strict: true })
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)))
  const problems = 'problems' in analysis ? analysis.problems : []
  // They are ESM alone: what CommonJS and the resolution of before 2020 cannot load is no fault.
  const faults = problems.filter(
    (problem) =>
      problem.kind !== 'CJSResolvesToESM' && !('resolutionKind' in problem && problem.resolutionKind === 'node10'),
  )
  return [...messages, ...faults, ...('problems' in analysis ? [] : ['no types'])].map((fault) => JSON.stringify(fault))
}

/** The first program of a README. */
function example(readme: string): string {
  return /```ts\n(import express[\s\S]*?)```/.exec(readme)?.[1] ?? ''
}

function manifest(openapi: string, client: string): string {
  const dependencies = {
    '@resource/openapi': `file:${openapi}`,
    '@resource/client': `file:${client}`,
    '@trpc/client': '^11.25.2',
    '@trpc/server': '^11.25.2',
    '@types/express': '^5.0.6',
    express: '^5.3.0',
    zod: '^4.6.7',
  }
  return JSON.stringify({ name: 'stranger', version: '1.0.0', private: true, type: 'module', dependencies })
}

/** @throws Error unless the example serves what its README says */
async function answersOf(project: string): Promise<void> {
  const server = spawn(process.execPath, ['server.ts'], { cwd: project, stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = once(server, 'exit')
  try {
    const ask = (path: string) => fetch(`http://127.0.0.1:3000${path}`)
    for (let tries = 0; ; tries++) {
      if (await ask('/planets/6').catch(() => undefined)) break
      if (tries === 200 || server.exitCode !== null) throw new Error('The example does not answer.')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const answers = await Promise.all(
      ['/planets/6', '/planets/7', '/planets/x', '/moons'].map(async (path) => {
        const answer = await ask(path)
        return [answer.status, await answer.json()]
      }),
    )
    const { stdout } = await execute(process.execPath, ['client.ts'], { cwd: project })
    const seen = [...answers, JSON.parse(stdout)]
    if (!isDeepStrictEqual(seen, EXPECTED)) throw new Error(JSON.stringify(seen))
  } finally {
    server.kill()
    await ended
  }
}
