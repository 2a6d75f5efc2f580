// Type-checks the TypeScript and runs the shell commands and SQL of README.md and docs/, against a real service.
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtempDisposable, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { createTestServer } from '../apps/server/src/testing/testing.ts'
import { environment, root, stopping } from './run-command.mjs'

const execute = promisify(execFile)

// Each other block of code must be listed here, with what tests it or why nothing does.
const EXCEPTIONS: Record<string, Record<string, string>> = {
  'README.md': {
    'npm start ': 'the torture tests run npm start, CI runs npm test',
    'curl -X POST localhost:3000/api/users': 'readme.test.ts compares the responses',
    'curl -X POST localhost:3000/books': 'readme.test.ts compares the responses',
    'curl -X POST localhost:3000/items/': 'readme.test.ts compares the responses',
    'npm install http': 'check:client-projects installs it',
    'PORT=8080': 'config.test.ts reads each setting; the command does not end',
    'npm run -s resource -- keys create': 'starts a second service on all addresses',
  },
  'docs/guides/add-a-resource.md': {
    'npm run new': 'scripts/test/guide.ts follows the guide',
    'cp docs': 'scripts/test/guide.ts follows the guide',
    'curl --json': 'scripts/test/guide.ts follows the guide',
  },
  'docs/guides/clients.md': { 'npm install http': 'check:client-projects installs it' },
  'docs/guides/web-apps.md': { 'npm install http': 'check:client-projects installs it' },
  'docs/guides/cluster.md': { 'npm run cluster': 'check:failover starts and stops the same cluster' },
  'docs/guides/operating.md': {
    'docker build': 'needs Docker',
    '(umask 077': 'needs Docker',
    'git clone': 'needs systemd and root; deployment.test.ts checks the unit',
  },
}

// The names that the examples assume.
const NAMES = `declare global {
  const client: import('@resource/client').Client
  const read: import('@resource/database').Database['read']
  const cursor: string | undefined
}
export {}
`

const used = new Set<string>()
const pages = globSync(['README.md', 'docs/**/*.md', 'packages/client/README.md'], { cwd: root }).sort()
const blocks = pages.flatMap((page) => {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^( *)```(\w+)\n(.*?)^ *```$/gms)].map(([, indent = '', language = '', code = '']) => ({
    page,
    language,
    code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }))
})
await using temporary = await mkdtempDisposable(join(tmpdir(), 'docs-'))
const folder = temporary.path
await checkTypes()
await runCommands()

/** Compiles each `ts` block as a module. check:client-projects compiles those that begin with their path. */
async function checkTypes(): Promise<void> {
  // Inside a package that depends on the client, the server and React.
  const project = join(root, 'apps/server/dist/docs')
  await rm(project, { recursive: true, force: true })
  await mkdir(project, { recursive: true })
  const programs = blocks.filter(({ language, code }) => language === 'ts' && !/^\/\/ \S+\.ts\n/.test(code))
  try {
    await Promise.all(programs.map(({ code }, index) => writeFile(join(project, `${index}.ts`), code)))
    await writeFile(join(project, 'names.d.ts'), NAMES)
    const options = { lib: ['es2024', 'esnext.disposable', 'dom'], noUnusedLocals: false }
    const config = { extends: '../../../../tsconfig.base.json', compilerOptions: options, include: ['.'] }
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config))
    await execute('tsc', ['-p', project, '--singleThreaded'], { env: environment }).catch(({ stdout }) => {
      console.log(programs.map(({ page, code }, index) => `${index}.ts is ${page}: ${code.split('\n')[0]}`).join('\n'))
      report(stdout)
    })
  } finally {
    await rm(project, { recursive: true, force: true })
  }
  console.log(`${programs.length} TypeScript blocks compiled`)
}

/** Runs the `sh` blocks of each page in one shell, on a service of its own, and then its SQL. */
async function runCommands(): Promise<void> {
  // The documented programs. `npm run -s resource --` runs in this folder, where the commands leave their files.
  await shim('curl', 'exec "$CURL" --fail-with-body --silent --show-error "$@"')
  await shim('npm', 'shift 4\nexec resource "$@"')
  await shim('resource', `exec node ${join(root, 'apps/cli/src/main.mjs')} "$@"`)
  const { stdout: curl } = await execute('which', ['curl'])
  let count = 0
  for (const page of pages) {
    if (stopping()) {
      process.exitCode = 1
      return
    }
    count += await runPage(page, curl.trim())
  }
  for (const [page, reasons] of Object.entries(EXCEPTIONS)) {
    for (const start of Object.keys(reasons)) {
      if (!used.has(`${page} ${start}`)) report(`${page} has no block that starts with ${start}`)
    }
  }
  console.log(`${count} blocks of shell commands run`)
}

/** @returns the number of blocks that it ran */
async function runPage(page: string, curl: string): Promise<number> {
  await using server = await createTestServer({ seed: { items: [{ name: 'Lamp', price: 24.5 }] } })
  const env = {
    ...environment,
    PATH: `${folder}:${environment.PATH}`,
    CURL: curl,
    RESOURCE_URL: server.url,
    DATABASE_URL: server.databaseUrl,
  }
  const run: string[] = []
  for (const { code } of blocks.filter((block) => block.page === page && block.language === 'sh')) {
    const exception = Object.keys(EXCEPTIONS[page] ?? {}).find((start) => code.startsWith(start))
    if (exception === undefined) run.push(code)
    else {
      used.add(`${page} ${exception}`)
      await execute('sh', ['-n', '-c', code]).catch(({ message }) => report(`${page}: ${message}`))
    }
  }
  const commands = run.join('')
  const command = commands.replaceAll('localhost:3000', new URL(server.url).host).replaceAll('/backups/', `${folder}/`)
  await execute('sh', ['-e', '-c', command], { cwd: folder, env }).catch(({ message, stdout }) =>
    report(`${page}: ${message}${stdout}`),
  )
  const database = new DatabaseSync(server.databaseUrl.replace('file:', ''))
  for (const { code } of blocks.filter((block) => block.page === page && block.language === 'sql')) database.exec(code)
  database.close()
  return run.length
}

async function shim(name: string, command: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\n${command}\n`)
  await chmod(join(folder, name), 0o755)
}

function report(fault: string): void {
  console.log(fault)
  process.exitCode = 1
}
