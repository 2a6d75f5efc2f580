// Builds `dist` for publishing. It includes the code and types of the contract, so it needs no other workspace package.
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
const external = [/^@trpc\/(client|server)/, /^zod/, 'react', '@tanstack/react-query']

// The types of the contract are copied unbundled: the type bundler loses comments inside them.
const META = `export interface OpenApiMeta {
  openapi?: {
    method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
    path: \`/\${string}\`
    operationId?: string
    summary?: string
    description?: string
    successDescription?: string
    deprecated?: boolean
  }
}
`

rmSync(dist, { recursive: true, force: true })
mkdirSync(types, { recursive: true })

await build({
  input: Object.fromEntries(entries.map((name) => [name, join(home, 'src', `${name}.ts`)])),
  external,
  platform: 'neutral',
  output: { dir: dist, chunkFileNames: '[name].js' },
})

for (const name of ['openapi', 'contract', 'client']) {
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
        rootDir: packages,
        outDir: types,
        typeRoots: [join(root, 'node_modules', '@types')],
      },
    }),
  )
  execFileSync(process.execPath, [tsc, '-p', config], { stdio: 'inherit' })
}
await build({
  input: Object.fromEntries(entries.map((name) => [name, join(types, 'client', 'src', `${name}.d.ts`)])),
  external: [...external, /^@resource\//, /\/api\.ts$/],
  plugins: [dts({ dtsInput: true, tsconfig: false })],
  output: { dir: dist, chunkFileNames: '[name].d.ts' },
})
writeFileSync(join(dist, 'api.d.ts'), declarations(contract))
for (const name of globSync('*.d.ts', { cwd: dist })) {
  rewrite(join(dist, name), {
    '@resource/contract': './types/contract/src/index.js',
    '@resource/openapi/client': './types/openapi/src/client/index.js',
    '@resource/openapi/query': './types/openapi/src/client/query.js',
  })
}

rmSync(join(types, 'client'), { recursive: true })
for (const name of globSync('**/*', { cwd: types, withFileTypes: true })) {
  const file = join(name.parentPath, name.name).replaceAll('\\', '/')
  const isKept = /\/contract\/src\/|\/openapi\/src\/(client\/\w[\w-]*|contract|api-error)\.d\.ts$/.test(file)
  if (name.isFile() && !isKept) rmSync(file)
  else if (name.isFile()) {
    rewrite(file, { '@resource/openapi/contract': '../../openapi/src/contract.js', 'trpc-openapi': '../../meta.js' })
  }
}
writeFileSync(join(types, 'meta.d.ts'), META)

/** Repaths package imports in a file by relative paths in `dist`. */
function rewrite(file: string, paths: Record<string, string>) {
  const text = readFileSync(file, 'utf8').replace(/(['"])([^'"\n]+)\1/g, (quoted, quote, name) => {
    const path = paths[name] ?? (name.startsWith('.') ? name.replace(/\.ts$/, '.js') : name)
    return name === path ? quoted : quote + path + quote
  })
  writeFileSync(file, text)
}
