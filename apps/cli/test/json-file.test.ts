import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposableSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { jsonFile } from '../src/json-file.ts'

test('a file that another process creates is found whole or not at all', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'resource-cli-'))
  const file = jsonFile<{ rows: number }>(join(folder.path, 'state.json'))
  const module = new URL('../src/json-file.ts', import.meta.url).href
  const code = `import(${JSON.stringify(module)}).then(({ jsonFile }) => {
    const file = jsonFile(${JSON.stringify(file.path)})
    for (let n = 0; n < 3000; n++) { file.create({ rows: 7 }); file.remove() }
  })`
  const worker = new Worker(code, { eval: true })
  let isRunning = true
  worker.on('exit', () => {
    isRunning = false
  })
  const found = new Set<number | undefined>()
  while (isRunning) {
    for (let n = 0; n < 100; n++) found.add(file.read()?.rows)
    await new Promise(setImmediate)
  }
  expect([undefined, 7]).toEqual(expect.arrayContaining([...found]))
  expect([file.create({ rows: 1 }), file.create({ rows: 2 }), file.read()]).toEqual([true, false, { rows: 1 }])
})

test.for(['write', 'create'] as const)('what a killed process left next to the file is removed: %s', async (method) => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'resource-cli-'))
  const ended = spawn(process.execPath, ['--version'])
  await once(ended, 'exit')
  const others = [`a.json.${process.ppid}.new`, 'a.json.x.new', `b.json.${ended.pid}.new`]
  for (const name of [`a.json.${ended.pid}.new`, ...others]) writeFileSync(join(folder.path, name), '{')
  jsonFile<{ rows: number }>(join(folder.path, 'a.json'))[method]({ rows: 1 })
  // Those of a running process and of another file stay.
  expect(readdirSync(folder.path).sort()).toEqual(['a.json', ...others].sort())
})
