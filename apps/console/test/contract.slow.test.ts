import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const console = fileURLToPath(new URL('../', import.meta.url))
const packages = join(console, '../../packages')

/** New names of fields, by file of the contract. */
const RENAMES = {
  'books.ts': ['published_date', 'released'],
  'items.ts': ['category', 'shelf'],
  'users.ts': ['status', 'state'],
} as const

/** Compiles the console against a copy of the contract with renamed fields; returns the compiler's output. */
async function compileRenamed(): Promise<string> {
  const cache = join(console, 'node_modules/.cache')
  await mkdir(cache, { recursive: true })
  await using temporary = await mkdtempDisposable(join(cache, 'contract-'))
  const folder = temporary.path
  await cp(join(packages, 'contract/src'), join(folder, 'src'), { recursive: true })
  await cp(join(packages, 'contract/package.json'), join(folder, 'package.json'))
  for (const [file, [from, to]] of Object.entries(RENAMES)) {
    const source = join(folder, 'src', file)
    const text = await readFile(source, 'utf8')
    await writeFile(source, text.replaceAll(new RegExp(`\\b${from}\\b`, 'g'), to))
  }
  const paths = {
    '@resource/contract': [join(folder, 'src/index.ts')],
    '@resource/openapi/contract': [join(packages, 'openapi/src/contract.ts')],
    '@resource/openapi/schema': [join(packages, 'openapi/src/schema.ts')],
  }
  const tsconfig = join(folder, 'tsconfig.json')
  await writeFile(
    tsconfig,
    JSON.stringify({
      extends: join(console, 'tsconfig.json'),
      compilerOptions: { paths },
      include: [join(console, 'src')],
      exclude: [],
    }),
  )
  return await compile(tsconfig)
}

function compile(project: string): Promise<string> {
  return new Promise((resolve) => {
    const args = [join(console, 'node_modules/typescript/bin/tsc'), '-p', project]
    execFile(process.execPath, args, (_error, stdout) => resolve(stdout))
  })
}

test('each field renamed in the contract causes a compile error in the console', async () => {
  const errors = await compileRenamed()
  for (const [from] of Object.values(RENAMES)) {
    expect(errors).toMatch(new RegExp(`src/(resources|overview)/.*'${from}' does not exist`))
  }
})
