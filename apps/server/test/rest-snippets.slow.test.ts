import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@resource/client'
import { createTestServer } from '@resource/server/testing'
import openapiTS, { astToString } from 'openapi-typescript'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const snippets = fileURLToPath(new URL('../../../docs/snippets/', import.meta.url))
// Outside node_modules, where Node.js does not run TypeScript.
const cache = fileURLToPath(new URL('../dist/', import.meta.url))
const tsc = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url))
const LONG = { timeout: 300_000 }

const isInstalled = (command: string, argument: string) =>
  run(command, [argument]).then(
    () => true,
    () => false,
  )

/** The output of a snippet against its own empty service. */
async function outputOf(command: string, ...files: string[]) {
  await using server = await createTestServer()
  // Without cgo, Go compiles no C code of its standard library.
  const env = { ...process.env, BASE_URL: server.url, CGO_ENABLED: '0' }
  const { stdout } = await run(command, files, { env })
  return stdout
}

test.skipIf(!(await isInstalled('curl', '--version')))(
  'the curl snippet runs, also on a database with records',
  LONG,
  async () => {
    await using server = await createTestServer()
    const client = createClient({ baseUrl: server.url })
    await client.items.create.mutate({ name: 'Rug', price: 80 })
    const script = () => run('sh', [join(snippets, 'rest.sh')], { env: { ...process.env, BASE_URL: server.url } })
    expect((await script()).stdout).toBe(`{"item":{"id":2,"name":"Lamp","price":24.5,"category":null}}
[{"id":2,"name":"Lamp","price":24.5,"category":null}]
{"id":2,"name":"Lamp","price":19.9,"category":null}
`)
    // Again, on the records that it has changed: the create is a replay.
    expect((await script()).stdout).toBe(`{"item":{"id":2,"name":"Lamp","price":24.5,"category":null}}
[{"id":2,"name":"Lamp","price":19.9,"category":null}]
{"id":2,"name":"Lamp","price":19.9,"category":null}
`)
    expect((await client.items.list.query({ count: true })).total).toBe(2)
  },
)

test.skipIf(!(await isInstalled('python3', '--version')))('the Python snippet runs', LONG, async () => {
  expect(await outputOf('python3', join(snippets, 'rest.py'))).toBe(`1 ['Lamp', 'Rug']
400 name: must be text of 1 to 200 characters; price: must be a number from 0 to 1e12
`)
})

test.skipIf(!(await isInstalled('go', 'version')))('the Go snippet runs', LONG, async () => {
  // Without optimization the standard library, which a new machine has to build, takes half as long.
  const plain = ['-gcflags=all=-N -l', '-ldflags=-s -w']
  expect(await outputOf('go', 'run', ...plain, join(snippets, 'rest.go'))).toBe('201 1 Lamp 404 Item not found\n')
})

test('a client generated from the served document compiles and runs', LONG, async () => {
  await using server = await createTestServer()
  await mkdir(cache, { recursive: true })
  await using folder = await mkdtempDisposable(join(cache, 'generated-'))
  const project = folder.path
  const types = astToString(await openapiTS(new URL(`${server.url}/openapi.json`), { defaultNonNullable: false }))
  await writeFile(join(project, 'api.d.ts'), types)
  await copyFile(join(snippets, 'rest.ts'), join(project, 'rest.ts'))
  const options = { extends: '../../../../tsconfig.base.json', compilerOptions: { lib: ['es2024', 'dom'] } }
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ ...options, include: ['.'] }))
  await run(process.execPath, [tsc, '-p', project]).catch((error) => expect.fail(error.stdout))
  expect(await outputOf(process.execPath, join(project, 'rest.ts'))).toBe('1 Lamp 404 Item not found\n')
})
