import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EXPORTS } from './exports.ts'
import { installed, run, tsc } from './package.ts'

let published: Awaited<ReturnType<typeof installed>>
beforeAll(async () => {
  published = await installed()
}, 180_000)
afterAll(() => published?.[Symbol.asyncDispose]())

/** The minified and gzipped size of a browser program in bytes, and its modules. */
async function bundle(program: string) {
  const input = join(published.project, 'program.js')
  await writeFile(input, program)
  const build = await rolldown({ input, platform: 'browser', external: ['react', '@tanstack/react-query'] })
  const { output } = await build.generate({ minify: true })
  const [{ code, moduleIds }] = output
  return { bytes: gzipSync(code).byteLength, modules: moduleIds.join('\n') }
}

const CLIENT = `import { createClient } from '@resource/client'
globalThis.client = createClient({ baseUrl: 'http://127.0.0.1:3000' })`

test('the client with tRPC is at most 12 kB gzipped, without zod, server code or the contract', async () => {
  const { bytes, modules } = await bundle(CLIENT)
  expect(bytes).toBeLessThanOrEqual(12_000)
  expect(`${Math.round(bytes / 1000)} kB`).toBe('9 kB') // the figure in docs/guides/clients.md
  expect(modules).toContain('@resource/client/dist/index.js')
  expect(modules).not.toMatch(/\/(zod|express|pino)\/|client\/dist\/contract|packages\/contract/)
})

test('the package declares all its dependencies and none on the workspace', () => {
  const { dependencies, peerDependencies, exports } = published.manifest
  expect(Object.keys({ ...dependencies, ...peerDependencies }).sort()).toEqual([
    '@tanstack/react-query',
    '@trpc/client',
    '@trpc/server',
    'eventsource-parser',
    'react',
    'zod',
  ])
  expect(exports['.']).toEqual({ types: './dist/index.d.ts', default: './dist/index.js' })
})

test('the published types work outside the workspace', async () => {
  const { project } = published
  await writeFile(
    join(project, 'program.ts'),
    `import { createClient, NotFoundError } from '@resource/client'
import { contract } from '@resource/client/contract'
import { createResourceOptions } from '@resource/client/react'
const client = createClient({ baseUrl: 'http://127.0.0.1:3000', check: contract })
export const { price } = await client.items.get.query({ id: 1 })
price satisfies number
// @ts-expect-error: an id is a number
await client.items.get.query({ id: '1' })
await client.users.updateMany.mutate({ users: [], key: 'email' })
// @ts-expect-error: only a unique field names records
await client.users.updateMany.mutate({ users: [], key: 'password' })
// @ts-expect-error: all matching records get the same values
await client.users.updateWhere.mutate({ id_gte: 1, changes: { set: { email: 'ada@example.com' } } })
for await (const user of client.users.iterate({ role: 'admin' })) user.email satisfies string
for await (const change of client.changes({ resources: ['items', 'books'], after: '0-0' })) {
  if (change.record === null) change.type satisfies 'items.deleted' | 'books.deleted'
  else if (change.resource === 'items') change.record.price satisfies number
  else change.record.title satisfies string
}
export const options = createResourceOptions(client, null as never).books.list.queryOptions({ sort: 'title_asc' })
export const kinds = [NotFoundError]
`,
  )
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ ...CONFIG, include: ['program.ts'] }))
  await expect(run(process.execPath, [tsc, '-p', project])).resolves.toMatchObject({ stdout: '' })
})

const CONFIG = { extends: '../../../../../tsconfig.base.json', compilerOptions: { lib: ['es2024', 'dom'] } }

test('the published types of every procedure are those of the contract', async () => {
  const { project } = published
  await writeFile(
    join(project, 'types.ts'),
    `import type { Api } from '@resource/client'
import type { Contract } from '../../../../contract/src/index.ts'
import type { TypesOf } from '../../../../openapi/src/contract.ts'
type Own = TypesOf<Contract>
type Accepts<A, B> = [A] extends [B] ? true : false
type Complete<T> = T extends string | number | boolean | null | undefined ? T : T extends readonly (infer E)[] ? Complete<E>[] : T extends object ? { [K in keyof T]-?: Complete<T[K]> } : T
type Same<A, B> = [Accepts<A, B>, Accepts<B, A>] extends [true, true] ? true : false
// The contract has booleans in audit entries, changes, previews and proposals once a record has one.
type Noun = Exclude<keyof Own & keyof Api, 'audit' | 'changes' | 'previews' | 'proposals'>
type Different<A, B> = false extends Same<A, B> | Same<Complete<A>, Complete<B>> ? true : false
// Without measures, the contract's type of \`of\` is never, and the published input has no \`of\`.
type Comparable<T> = Omit<T, 'summarize'>
type Verbs<N extends Noun> = {
  [V in keyof Comparable<Own[N]> & keyof Api[N]]: Different<Own[N][V], Api[N][V]> extends true ? V : never
}[keyof Comparable<Own[N]> & keyof Api[N]]
type Differences = { [N in Noun]: Verbs<N> }[Noun]
export const none: [Differences] extends [never] ? true : Differences = true
export const verbs: Same<{ [N in keyof Own]: keyof Own[N] }, { [N in keyof Api]: keyof Api[N] }> = true
`,
  )
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ ...CONFIG, include: ['types.ts'] }))
  await expect(run(process.execPath, [tsc, '-p', project])).resolves.toMatchObject({ stdout: '' })
})

test('the published procedures and fields have descriptions, which do not depend on REST', async () => {
  const types = await readFile(join(published.project, 'node_modules/@resource/client/dist/api.d.ts'), 'utf8')
  expect(types).toContain('  /** Stored as written; unique, ignoring case. */\n  email: string\n')
  expect(types).toContain(
    '/** Get an item. Returns the item with its version. A write with `if_version` changes only this version of it. */',
  )
  expect(types).toContain('/** Create an item. `category` defaults to null. */')
  expect(types).not.toMatch(/ETag|If-Match|\bheaders?\b|X-Total|JSON body|under the key|\blinks?\b|query string/)
})

test('a program can export the client, its parts, its hooks and its options, and emit declarations', async () => {
  const { project } = published
  await writeFile(join(project, 'exports.ts'), EXPORTS)
  const compilerOptions = {
    ...CONFIG.compilerOptions,
    noEmit: false,
    allowImportingTsExtensions: false,
    composite: true,
    outDir: 'out',
  }
  const config = { ...CONFIG, compilerOptions, include: ['exports.ts'] }
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config))
  await expect(run(process.execPath, [tsc, '-p', project])).resolves.toMatchObject({ stdout: '' })
  const declarations = await readFile(join(project, 'out', 'exports.d.ts'), 'utf8')
  expect(declarations).toContain('export declare const client: Client;')
  expect(declarations).toContain('books: import("@resource/client").NounClient<"books">;')
  expect(declarations).toContain(
    'import("@resource/client/query").DataKey<import("@resource/client").BooksListOutput>;',
  )
})

test('every installed Node version loads the package without a build step', async () => {
  const program = join(published.project, 'load.mjs')
  await writeFile(program, `${CLIENT}\nconsole.log(typeof globalThis.client.books.list.query)`)
  const others = process.platform === 'win32' ? [] : ['/usr/bin/node', '/usr/local/bin/node']
  for (const node of [process.execPath, ...others]) {
    const outcome = await run(node, [program]).catch((error) => error)
    if (outcome.code !== 'ENOENT') expect(outcome).toMatchObject({ stdout: 'function\n' })
  }
})

test('the query module loads in a React server component, and the React module is marked as client code', async () => {
  const program = join(published.project, 'server-component.mjs')
  await writeFile(
    program,
    `import { createClient } from '@resource/client'
import { createResourceOptions } from '@resource/client/query'
const options = createResourceOptions(createClient({ baseUrl: 'http://127.0.0.1:3000' }), {})
console.log(JSON.stringify(options.books.get.queryOptions({ id: 1 })))`,
  )
  const { stdout } = await run(process.execPath, ['--conditions', 'react-server', program])
  expect(JSON.parse(stdout)).toEqual({
    queryKey: [['books', 'get'], { input: { id: 1 }, type: 'query' }],
    retry: false,
  })
  const react = await readFile(join(published.project, 'node_modules/@resource/client/dist/react.js'), 'utf8')
  expect(react).toMatch(/^["']use client["']/)
})
