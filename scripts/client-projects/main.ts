// `npm run check:client-projects [-- node vite next]`. Builds stock Vite, Next.js and Node.js projects outside the workspace with the client that the service serves, from the
// files of docs/guides/web-apps.md, and uses them in Chromium. Without the npm registry they are NOT CHECKED.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createTestServer, type Seed } from '../../apps/server/src/testing/testing.ts'
import { openBrowser } from '../../packages/browser-test/src/browser.ts'
import { EXPORTS } from '../../packages/client/test/exports.ts'
import { freePort } from '../../packages/postgres-test/src/free-port.ts'
import { download, execute, makeChecks, startServer } from '../external-checks.ts'
import { root } from '../run-command.mjs'
import { createKey, driveNext, driveNode, driveVite } from './drive.ts'

const chosen = process.argv.slice(2)

// What `npm create` makes depends on these versions. Not dependencies of the workspace: they would triple its size.
const VITE = 'create-vite@9.3.0'
const NEXT = 'create-next-app@16.4.3'
// The last version that is written in JavaScript, which reports other errors in declarations.
const OTHER_TYPESCRIPT = ['other-typescript@npm:typescript@5.9']

const seed: Seed = {
  users: [{ name: 'Ada Lovelace', email: 'ada@example.com' }],
  items: [{ name: 'Lamp', price: 24.5 }],
  books: Array.from({ length: 50 }, (_, index) => ({
    title: `Book ${String(index + 1).padStart(2, '0')}`,
    author: 'Octavia E. Butler',
    published_date: '1979-06-01',
  })),
}

const folder = await mkdtemp(join(tmpdir(), 'projects-'))
const recipes = filesOf(await readFile(join(root, 'docs/guides/web-apps.md'), 'utf8'))
try {
  await using browser = await openBrowser()
  const projects = Object.entries({ node, vite, next }).filter(([name]) => chosen.length === 0 || chosen.includes(name))
  await makeChecks(Object.fromEntries(projects.map(([name, check]) => [name, () => check(browser)])))
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
}

type Browser = Awaited<ReturnType<typeof openBrowser>>

async function node() {
  await using server = await createTestServer({ seed })
  const project = join(folder, 'node')
  await mkdir(project)
  await write(project, {
    'package.json': '{ "name": "program", "private": true, "type": "module" }',
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        module: 'nodenext',
        strict: true,
        composite: true,
        rootDir: 'src',
        outDir: 'out',
        tsBuildInfoFile: 'out/tsbuildinfo',
        types: ['node'],
      },
      include: ['src'],
    }),
    'src/exports.ts': EXPORTS,
    'src/main.ts': `import { createClient } from '@resource/client'
const client = createClient({ baseUrl: '${server.url}' })
const { items } = await client.items.list.query()
const [price]: number[] = items.map(({ price }) => price)
// @ts-expect-error: an id is a number
const code = await client.items.get.query({ id: 'x' }).catch(({ code }) => code)
console.log(JSON.stringify([price, code]))
`,
  })
  const react = ['react', '@types/react', '@tanstack/react-query']
  await install(project, `${server.url}/client.tgz`, 'typescript', '@types/node', ...react, ...OTHER_TYPESCRIPT)
  // Declarations name the exported types with either version of the compiler.
  for (const name of ['other-typescript', 'typescript']) {
    await rm(join(project, 'out'), { recursive: true, force: true })
    await execute('node', [join('node_modules', name, 'bin', 'tsc'), '-p', '.'], project)
  }
  await driveNode(await execute('node', [join('out', 'main.js')], project))
}

async function vite(browser: Browser) {
  const address = `http://localhost:${await freePort()}`
  await using server = await createTestServer({ seed, environment: { CORS_ORIGINS: address } })
  const project = join(folder, 'vite')
  await download('npx', ['-y', VITE, 'vite', '--template', 'react-ts', '--no-interactive'], folder)
  await install(project, `${server.url}/client.tgz`, '@tanstack/react-query')
  await write(project, pick(/^(src\/|vite\.config)/, server.url))
  await rm(join(project, 'src', 'App.css'))
  await execute('npm', ['run', 'build'], project)
  {
    // The preview server uses the development server's proxy.
    await using page = await served(project, ['preview'])
    await driveVite(browser, page.url, server)
  }
  // The same page, but the browser calls the service on another origin.
  // The script `build` would check the same types again.
  await execute(programOf(project, 'vite'), ['build'], project, { VITE_SERVICE_URL: server.url })
  await using page = await served(project, ['preview'], { port: new URL(address).port })
  await driveVite(browser, page.url, server)
}

async function next(browser: Browser) {
  await using server = await createTestServer({ seed })
  const project = join(folder, 'next')
  const options = ['--ts', '--app', '--empty', '--no-tailwind', '--no-linter', '--no-src-dir', '--skip-install']
  await download('npx', ['-y', NEXT, 'next', ...options, '--disable-git', '--yes'], folder)
  await install(project, `${server.url}/client.tgz`, '@tanstack/react-query')
  await write(project, pick(/^app\//, server.url))
  await execute('npm', ['run', 'build'], project)
  {
    await using page = await served(project, ['start'])
    await driveNext(browser, page.url)
  }
  const key = await createKey(server)
  await using page = await served(project, ['start'], { env: { RESOURCE_KEY: key } })
  await driveNext(browser, page.url)
}

/** The files of a Markdown page: code blocks that begin with their path as a comment. */
function filesOf(page: string): Record<string, string> {
  const blocks = page.matchAll(/```tsx?\n\/\/ (\S+)\n([\s\S]*?)```/g)
  return Object.fromEntries([...blocks].map(([, path = '', text = '']) => [path, text]))
}

function pick(paths: RegExp, url: string): Record<string, string> {
  const files = Object.entries(recipes).filter(([path]) => paths.test(path))
  return Object.fromEntries(files.map(([path, text]) => [path, text.replaceAll('http://127.0.0.1:3000', url)]))
}

async function write(project: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(project, path)), { recursive: true })
    await writeFile(join(project, path), text)
  }
}

async function install(project: string, ...packages: string[]): Promise<void> {
  await download('npm', ['install', '--no-audit', '--no-fund', ...packages], project)
}

/** Not `npx`, which takes as much CPU as some of the programs. */
function programOf(project: string, name: string): string {
  return join(project, 'node_modules', '.bin', name)
}

/** Serves a built project. */
async function served(project: string, args: string[], { port, env = {} }: { port?: string; env?: object } = {}) {
  const own = port ?? String(await freePort())
  const url = `http://localhost:${own}`
  const program = programOf(project, project.endsWith('next') ? 'next' : 'vite')
  return { url, ...(await startServer(url, program, [...args, '--port', own], { cwd: project, env })) }
}
