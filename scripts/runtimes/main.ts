// Tests the client and the fetch handler in each runtime that npm provides. The client calls the real service.
import { deepStrictEqual } from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTestServer } from '../../apps/server/src/testing/testing.ts'
import { freePort } from '../../packages/postgres-test/src/free-port.ts'
import { execute, installModules, makeChecks, startServer } from '../external-checks.ts'
import { root } from '../run-command.mjs'

// Not dependencies of the workspace: they would double the size of every installation.
const PACKAGES = [
  '@deno/linux-x64-glibc@2.9.6',
  '@oven/bun-linux-x64@1.4.5',
  '@cloudflare/workerd-linux-64@1.20261117.1',
]

const EXPECTED = {
  client: {
    read: { id: 1, name: 'Lamp', price: 24.5, category: null, version: 1 },
    ids: [1, 2],
    names: ['Lamp', 'Rug'],
    changes: ['items.created', 'items.created'],
    aborted: 'aborted',
    late: 'timeout',
    missing: 'not_found',
    refused: 'invalid_input',
  },
  handler: {
    read: [200, '{"id":6,"name":"Saturn","version":2}'],
    unchanged: [304, ''],
    missing: [404, '{"error":"Planet not found"}'],
    wrong: [400, '{"error":"id: Invalid input: expected number, received string"}'],
    unknown: [404, '{"error":"Path not found"}'],
    created: [201, '{"id":7,"name":"Neptune","version":1}'],
    invalid: [400, '{"error":"Body is not valid JSON"}'],
    tooLarge: [413, '{"error":"Body must be at most 100 bytes"}'],
  },
}

const folder = join(root, 'node_modules', '.cache', 'runtimes')
const modules = join(folder, 'node_modules')
// On other systems than 64-bit Intel Linux, npm refuses to install them.
const prepared = installModules(folder, ...PACKAGES).then(bundle)
const run =
  (program: string, ...args: string[]) =>
  (url: string) =>
    execute(program, [...args, join(folder, 'main.mjs'), url], folder, { DENO_NO_UPDATE_CHECK: '1' })
const runtimes: Record<string, (url: string) => Promise<string>> = {
  [`Node.js ${process.versions.node}`]: run(process.execPath),
  ...(existsSync('/usr/bin/node') && { 'Node.js of the system': run('/usr/bin/node') }),
  Deno: run(join(modules, '@deno/linux-x64-glibc/deno'), 'run', '--allow-net'),
  Bun: run(join(modules, '@oven/bun-linux-x64/bin/bun')),
  workerd: runWorkerd,
}
const checks = Object.entries(runtimes).map(([name, runtime]) => [
  name,
  async () => {
    await prepared
    await using server = await createTestServer()
    deepStrictEqual(JSON.parse(await runtime(server.url)), EXPECTED)
  },
])
await makeChecks(Object.fromEntries(checks))

async function bundle(): Promise<void> {
  const rolldown = join(root, 'packages/client/node_modules/.bin/rolldown')
  const programs = [
    ['client', 'scripts/runtimes/client.ts', 'browser'],
    ['handler', 'packages/openapi/test/runtimes.ts', 'node'],
  ]
  for (const [name = '', program = '', platform = ''] of programs) {
    const output = ['--file', join(folder, `${name}.mjs`), '--format', 'esm', '--no-codeSplitting']
    await execute(rolldown, [join(root, program), '--platform', platform, ...output], root)
  }
  // Like the bundlers for workers: a worker has no URL to resolve packages from, and provides Node.js modules as ES modules.
  const require = `((load) => (name) => load(name).default ?? load(name))(createRequire('/'))`
  const handler = join(folder, 'handler.mjs')
  const text = (await readFile(handler, 'utf8')).replace('createRequire(import.meta.url)', require)
  await writeFile(join(folder, 'worker-handler.mjs'), text)
  await writeFile(
    join(folder, 'main.mjs'),
    `import { exercise } from './client.mjs'
import { answers } from './handler.mjs'
const [url] = globalThis.Deno?.args ?? process.argv.slice(2)
console.log(JSON.stringify({ client: await exercise(url), handler: await answers() }))
`,
  )
  await writeFile(
    join(folder, 'worker.mjs'),
    `import { exercise } from './client.mjs'
import { answers } from './worker-handler.mjs'
export default {
  fetch: async (request) => {
    const client = await exercise(new URL(request.url).searchParams.get('service'))
    return Response.json({ client, handler: await answers() })
  },
}
`,
  )
}

/** Cloudflare's runtime serves requests and cannot run a program to its end, so the test runs in a request handler. */
async function runWorkerd(url: string): Promise<string> {
  const port = await freePort()
  const config = join(folder, 'workerd.capnp')
  await writeFile(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "main", worker = .main), (name = "internet", network = (allow = ["private"])) ],
  sockets = [ (name = "http", address = "127.0.0.1:${port}", http = (), service = "main") ]
);
const main :Workerd.Worker = (
  modules = [
    (name = "worker.mjs", esModule = embed "worker.mjs"),
    (name = "client.mjs", esModule = embed "client.mjs"),
    (name = "worker-handler.mjs", esModule = embed "worker-handler.mjs")
  ],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ["nodejs_compat"]
);
`,
  )
  const address = `http://127.0.0.1:${port}/?service=${encodeURIComponent(url)}`
  await using serving = await startServer(address, join(modules, '@cloudflare/workerd-linux-64/bin/workerd'), [
    'serve',
    config,
  ])
  return await serving.response.text()
}
