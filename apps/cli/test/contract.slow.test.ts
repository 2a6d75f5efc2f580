import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempDisposableSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ListedRecord } from '@resource/client'
import type { Input } from '@resource/contract'
import { expect, expectTypeOf, test } from 'vitest'

const cli = fileURLToPath(new URL('..', import.meta.url))
const contract = fileURLToPath(new URL('../../../packages/contract', import.meta.url))
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')

test('exports and imports have exactly these columns', () => {
  type Columns<T> = keyof T & string
  expectTypeOf<Columns<ListedRecord<'users'>>>().toEqualTypeOf<
    'id' | 'name' | 'email' | 'role' | 'status' | 'age' | 'created_at' | 'updated_at' | 'version'
  >()
  expectTypeOf<Columns<ListedRecord<'books'>>>().toEqualTypeOf<
    'id' | 'title' | 'author' | 'published_date' | 'version'
  >()
  expectTypeOf<Columns<ListedRecord<'items'>>>().toEqualTypeOf<'id' | 'name' | 'price' | 'category' | 'version'>()
  expectTypeOf<Columns<Input<'users', 'createMany'>['users'][number]>>().toEqualTypeOf<
    'name' | 'email' | 'password' | 'role' | 'status' | 'age'
  >()
  expectTypeOf<Columns<Input<'books', 'createMany'>['books'][number]>>().toEqualTypeOf<
    'title' | 'author' | 'published_date'
  >()
  expectTypeOf<Columns<Input<'items', 'createMany'>['items'][number]>>().toEqualTypeOf<'name' | 'price' | 'category'>()
})

/** Compiles the command line against a copy of the contract with `changes` applied to its files. */
function compileOver(changes: Record<string, (text: string) => string>) {
  using temporary = mkdtempDisposableSync(join(tmpdir(), 'resource-contract-'))
  const folder = temporary.path
  cpSync(join(contract, 'src'), join(folder, 'src'), { recursive: true })
  cpSync(join(contract, 'package.json'), join(folder, 'package.json'))
  symlinkSync(join(contract, 'node_modules'), join(folder, 'node_modules'))
  for (const [file, change] of Object.entries(changes)) {
    const path = join(folder, 'src', file)
    writeFileSync(path, change(readFileSync(path, 'utf8')))
  }
  const config = {
    extends: join(cli, 'tsconfig.json'),
    compilerOptions: {
      paths: { '@resource/contract': [join(folder, 'src/index.ts')] },
      typeRoots: [join(cli, 'node_modules/@types')],
    },
    include: [join(cli, 'src'), join(cli, 'test')],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder, '--singleThreaded'], {
    encoding: 'utf8',
  })
  return { status, stdout }
}

test('each field renamed in the contract causes a compile error in the command line', () => {
  const { status, stdout } = compileOver({
    'users.ts': (text) => text.replace(/(?<!\.)\bemail\b/g, 'mail'),
    'books.ts': (text) => text.replace(/\btitle\b/g, 'headline'),
    'pages.ts': (text) => text.replace(/\bafter\b/g, 'behind'),
  })
  expect(status).not.toBe(0)
  expect(stdout).toMatch(/src\/table-columns\.ts.*"email"/)
  expect(stdout).toMatch(/test\/contract\.slow\.test\.ts.*"title"/)
  expect(stdout).toMatch(/src\/procedures\.ts.*"after"/)
})
