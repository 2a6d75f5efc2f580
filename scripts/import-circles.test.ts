import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

test.for([
  [
    'files, even through types only,',
    { 'a.ts': "import type { B } from './b.ts'", 'b.ts': "import { a } from './a.ts'" },
    `apps/shop/src: a.ts -> b.ts -> a.ts
  apps/shop/src/a.ts imports apps/shop/src/b.ts
  apps/shop/src/b.ts imports apps/shop/src/a.ts
`,
  ],
  [
    'folders whose files form none',
    { 'in/a.ts': "import('../out/b.ts')", 'in/c.ts': '', 'out/b.ts': '', 'out/d.ts': "import '../in/c.ts'" },
    `apps/shop/src: in -> out -> in
  apps/shop/src/in/a.ts imports apps/shop/src/out/b.ts
  apps/shop/src/out/d.ts imports apps/shop/src/in/c.ts
`,
  ],
] as const)('an import cycle between %s fails the check', ([, files, output]) => {
  expect(check(files)).toEqual({ code: 1, output })
})

test('a file may import from a folder that imports a sibling of the file', () => {
  const files = { 'a.ts': "import './in/b.ts'", 'in/b.ts': "import '../c.ts'", 'c.ts': '' }
  expect(check(files)).toEqual({ code: 0, output: '' })
})

function check(files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'import-cycles-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, 'apps/shop/src', name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  const script = join(import.meta.dirname, 'import-circles.ts')
  const { status, stdout } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' })
  return { code: status, output: stdout }
}
