// Builds `dist` for publishing. It includes the code and types of the contract, so it needs no other workspace package.
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { contract } from '@resource/contract'
import { build } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import { declarations } from './declarations.ts'

const home = fileURLToPath(new URL('..', import.meta.url))
const packages = dirname(home.replace(/\/$/, ''))
const dist = join(home, 'dist')
const types = join(dist, 'types')
const tsc = join(packages, '..', 'node_modules', 'typescript', 'bin', 'tsc')
const entries = ['index', 'contract', 'query', 'react']
const external = [/^@trpc\/(client|server)/, 'eventsource-parser', /^zod/, 'react', '@tanstack/react-query']

rmSync(dist, { recursive: true, force: true })
mkdirSync(types, { recursive: true })

await build({
  input: Object.fromEntries(entries.map((name) => [name, join(home, 'src', `${name}.ts`)])),
  external,
  platform: 'neutral',
  output: { dir: dist, chunkFileNames: '[name].js' },
})

for (const name of ['openapi', 'client']) {
  const config = join(types, `${name}.json`)
  const root = join(packages, name)
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      include: [join(root, 'src')],
      compilerOptions: {
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        // `npm run check types` checks the same sources. Only the emit takes a quarter of the time.
        noCheck: true,
        rootDir: packages,
        outDir: types,
        typeRoots: [join(root, 'node_modules', '@types')],
      },
    }),
  )
  execFileSync(process.execPath, [tsc, '-p', config], { stdio: 'inherit' })
}
const openapi = join(types, 'openapi', 'src', 'client')
// The named interfaces stand in a file of their own, in place of the types that the compiler derives from the contract.
const paths: Record<string, string | { id: string; external: true }> = {
  './api.ts': { id: './api.js', external: true },
  '@resource/openapi/client': join(openapi, 'index.d.ts'),
  '@resource/openapi/query': join(openapi, 'query.d.ts'),
}
await build({
  input: Object.fromEntries(entries.map((name) => [name, join(types, 'client', 'src', `${name}.d.ts`)])),
  external,
  plugins: [
    { name: 'paths', resolveId: { order: 'pre', handler: (id: string) => paths[id] } },
    dts({ dtsInput: true, tsconfig: false }),
  ],
  output: { dir: dist, chunkFileNames: '[name].d.ts', minifyInternalExports: false },
})
writeFileSync(join(dist, 'api.d.ts'), declarations(contract))
rmSync(types, { recursive: true })
