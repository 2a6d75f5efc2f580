import { execFile } from 'node:child_process'
import { cp, mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('without installed packages the command says how to install them', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'resource-bare-'))
  const main = join(folder.path, 'apps', 'cli', 'src', 'main.mjs')
  await cp(new URL('../src/main.mjs', import.meta.url), main)
  const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((done) => {
    execFile(process.execPath, [main, '--help'], (error, _stdout, stderr) => done({ code: error?.code, stderr }))
  })
  expect([code, stderr]).toEqual([
    1,
    `The packages of this checkout are not installed, or not completely. Run npm start, or:
  npx -y pnpm@12 install --frozen-lockfile
  npx -y pnpm@12 exec turbo run generate
`,
  ])
})
