// Checks the published packages: runs publint and arethetypeswrong, installs them in a new project with each package
// manager, and runs the examples of the adapter's README and of MIGRATING.md.
import { mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { execute, makeChecks, startServer } from '../external-checks.ts'
import { root } from '../run-command.mjs'
import { pack } from './pack.ts'

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
    // The types of trpc-openapi reference packages that are not installed.
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
  [200, { id: 6, name: 'Saturn', for: 'Ann' }],
  [404, 'NOT_FOUND'],
  [200, ['/planets/{id}']],
  [200, { id: 6, name: 'Saturn' }],
  [404, { error: 'Planet not found' }],
  [400, { error: 'id: must be a whole number' }],
  [404, { error: 'Path not found' }],
  ['Saturn', 'not_found'],
]

await using temporary = await mkdtempDisposable(join(tmpdir(), 'packages-'))
const folder = temporary.path
const [openapi = '', client = ''] = await pack(folder)
const program = example(await readFile(join(root, 'packages/openapi/README.md'), 'utf8'))
const router = example(await readFile(join(root, 'packages/openapi/MIGRATING.md'), 'utf8'))
const tarballs = [openapi, client].map((tarball) => [
  basename(tarball),
  async () => {
    const faults = await faultsOf(await readFile(tarball))
    if (faults.length > 0) throw new Error(faults.join('\n'))
  },
])
const installs = Object.entries(INSTALLS).map(([name, [command = '', ...args]]) => [
  name,
  async () => {
    const project = join(folder, name)
    await mkdir(project)
    await writeFile(join(project, 'package.json'), manifest(openapi, client))
    await writeFile(join(project, 'server.ts'), program)
    await writeFile(join(project, 'router.ts'), router)
    await writeFile(join(project, 'client.ts'), CLIENT)
    await writeFile(join(project, 'tsconfig.json'), CONFIG)
    // A new cache folder, because Yarn caches tarballs by version and ignores changed content.
    await execute(command, args, project, { YARN_CACHE_FOLDER: join(folder, 'yarn-cache') })
    await execute(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project], project)
    await checkResponses(project)
  },
])
await makeChecks(Object.fromEntries([...tarballs, ...installs]))

/** The problems that publint and arethetypeswrong find. */
async function faultsOf(tarball: Buffer): Promise<string[]> {
  const { messages } = await publint({ pack: { tarball: new Uint8Array(tarball).buffer }, strict: true })
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)))
  const problems = 'problems' in analysis ? analysis.problems : []
  // The packages are ESM only, so problems with CommonJS and with node10 resolution do not count.
  const faults = problems.filter(
    (problem) =>
      problem.kind !== 'CJSResolvesToESM' && !('resolutionKind' in problem && problem.resolutionKind === 'node10'),
  )
  return [...messages, ...faults, ...('problems' in analysis ? [] : ['no types'])].map((fault) => JSON.stringify(fault))
}

/** The first program in a Markdown page. */
function example(page: string): string {
  return /```ts\n(import [\s\S]*?)```/.exec(page)?.[1] ?? ''
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
  return JSON.stringify({ name: 'consumer', version: '1.0.0', private: true, type: 'module', dependencies })
}

/** @throws Error when the responses of the examples differ from EXPECTED */
async function checkResponses(project: string): Promise<void> {
  const router = await serve(project, 'router.ts', 3001, async (get) => {
    const [found, missing, document] = await Promise.all([
      get('/api/planets/6', { 'X-User': 'Ann' }),
      get('/api/planets/7'),
      get('/openapi.json'),
    ])
    return [found, [missing[0], missing[1].code], [document[0], Object.keys(document[1].paths)]]
  })
  const server = await serve(project, 'server.ts', 3000, async (get) => {
    const responses = await Promise.all(['/planets/6', '/planets/7', '/planets/x', '/moons'].map((path) => get(path)))
    return [...responses, JSON.parse(await execute(process.execPath, ['client.ts'], project))]
  })
  const actual = [...router, ...server]
  if (!isDeepStrictEqual(actual, EXPECTED)) throw new Error(JSON.stringify(actual))
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of any shape are compared with EXPECTED
type Answer = [status: number, body: any]

/** Runs a program and returns the result of `use`. */
async function serve<T>(
  project: string,
  program: string,
  port: number,
  use: (get: (path: string, headers?: Record<string, string>) => Promise<Answer>) => Promise<T>,
): Promise<T> {
  const url = `http://127.0.0.1:${port}`
  await using _server = await startServer(url, process.execPath, [program], { cwd: project })
  return await use(async (path, headers = {}) => {
    const response = await fetch(url + path, { headers })
    return [response.status, await response.json()]
  })
}
