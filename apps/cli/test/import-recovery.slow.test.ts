import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startProxy, startService, startServiceProcess } from './processes.ts'

const ITEMS = ['--type', 'items']

test('an import waits for an unreachable service and stores each row once after its restart', async () => {
  await using service = await startServiceProcess()
  writeFileSync(
    service.path('a.csv'),
    `name,price\n${Array.from({ length: 20_000 }, (_, n) => `Item ${n},1\n`).join('')}`,
  )
  const running = service.start(['import', 'a.csv', ...ITEMS, '--chunk-size', '100'])
  await running.seen('imported 10000 ')
  await service.stop('SIGKILL')
  await running.seen('Cannot reach the service')
  await using again = await startServiceProcess(service.folder, new URL(service.url).port)
  const { code, stdout, stderr } = await running.ended
  expect([code, stdout, stderr]).toEqual([
    0,
    '20000 items imported, 0 failed\n',
    expect.stringContaining('answers again'),
  ])
  const names = new Set<string>()
  let count = 0
  for await (const { name } of again.client.items.iterate({})) {
    names.add(name)
    count++
  }
  expect([count, names.size]).toEqual([20_000, 20_000])
})

test('a service that stays unreachable stops the import, and the rows that were not sent are in the remaining rows', async () => {
  await using service = await startService()
  writeFileSync(service.path('a.csv'), 'name,price\nLamp,dear\nRug,1\nSofa,2\n')
  const command = ['import', 'a.csv', ...ITEMS, '--chunk-size', '1', '--wait', '0', '--timeout', '10']
  const { code, stderr } = await service.run([...command, '--url', 'http://127.0.0.1:1'])
  expect([code, stderr]).toEqual([
    5,
    expect.stringMatching(/Service unreachable: .* at http:\/\/127\.0\.0\.1:1\nStopped after row 1\./),
  ])
  expect(readFileSync(service.path('a.csv.remaining.csv'), 'utf8').split('\n')).toEqual([
    'name,price,import_line,import_error',
    'Lamp,dear,2,price: must be a number from 0 to 1e12',
    'Rug,1,3,may have been imported: the service did not answer',
    'Sofa,2,4,',
    '',
  ])
  const early = await service.run(['import', 'a.csv.remaining.csv', ...ITEMS])
  expect([early.code, early.stderr]).toEqual([2, expect.stringContaining('a.csv is not complete: resume it')])
})

test('a service that refuses the key stops the import at once; after a login it resumes', async () => {
  await using service = await startService()
  writeFileSync(service.path('a.csv'), 'name,price\nLamp,1\nRug,dear\n')
  const { key } = await service.client.keys.create.mutate({ name: 'operator', role: 'admin' })
  const { code, stderr } = await service.run(['import', 'a.csv', ...ITEMS], '', {
    RESOURCE_KEY: `${key.slice(0, -1)}-`,
  })
  expect([code, stderr]).toEqual([7, expect.stringContaining('Refused: This API key is unknown\nStopped after row 0.')])
  expect(readFileSync(service.path('a.csv.remaining.csv'), 'utf8')).toBe(
    'name,price,import_line,import_error\nLamp,1,2,\nRug,dear,3,\n',
  )
  const resumed = await service.run(['import', 'a.csv', ...ITEMS], '', { RESOURCE_KEY: key })
  expect([resumed.code, resumed.stdout]).toEqual([6, '1 items imported, 1 failed\n'])
  expect(readFileSync(service.path('a.csv.remaining.csv'), 'utf8')).toBe(
    'name,price,import_line,import_error\nRug,dear,3,price: must be a number from 0 to 1e12\n',
  )
  expect(existsSync(service.path('a.csv.progress'))).toBe(false)
})

test('Ctrl-C ends the wait for an unreachable service', async () => {
  await using service = await startService()
  writeFileSync(service.path('a.csv'), 'name,price\nLamp,1\n')
  const command = ['import', 'a.csv', ...ITEMS, '--url', 'http://127.0.0.1:1']
  const { code, stderr } = await service.start(command).signalAt('Cannot reach the service', 'SIGINT')
  expect([code, stderr]).toEqual([130, expect.stringContaining('Stopped after row 0. Run the same command to resume.')])
  const other = await service.run(['import', 'a.csv', ...ITEMS])
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('a run with a different url')])
  expect((await service.run(['import', 'a.csv', ...ITEMS, '--restart'])).stdout).toBe('1 items imported, 0 failed\n')
})

test('imports of one file that run at the same time store each row once, and list each failed row once', async () => {
  await using service = await startService()
  const rows = Array.from({ length: 3000 }, (_, n) => `Item ${n},${n % 300 === 7 ? 'dear' : 1}`)
  writeFileSync(service.path('a.csv'), ['name,price', ...rows].join('\n'))
  const run = () => service.start(['import', 'a.csv', '--type', 'items']).ended
  const outcomes = await Promise.all([run(), run(), run(), run()])
  // One that starts after the end of another finds the file imported.
  expect(outcomes.map(({ code }) => code).filter((code) => code !== 6 && code !== 4)).toEqual([])
  expect((await service.client.items.list.query({ count: true, limit: 1 })).total).toBe(2990)
  const names = readFileSync(service.path('a.csv.remaining.csv'), 'utf8').match(/^[^,\n]+/gm)
  expect(names).toEqual(['name', ...Array.from({ length: 10 }, (_, n) => `Item ${n * 300 + 7}`)])
  expect(existsSync(service.path('a.csv.progress'))).toBe(false)
})

test('an import from stdin that turns out to be invalid reports how many rows are stored, and exits with 6', async () => {
  await using service = await startService()
  const rows = Array.from({ length: 30_000 }, (_, n) => `Item ${n},1\n`).join('')
  let before = 0
  for (const [format, input, message] of [
    ['json', '[{"name":"Lamp","price":1},{"name":"Rug","price":1}', 'The JSON array must end with ]'],
    ['csv', `name,price\n${rows}"Sofa,1\n`, 'the quote of a cell is not closed'],
    ['csv', Buffer.from(`name,price\n${rows}Caf\xe9,1\n`, 'latin1'), 'stdin is not UTF-8'],
  ] as const) {
    const chunkSize = format === 'json' ? '1' : '500'
    const command = ['import', '-', ...ITEMS, '--format', format, '--chunk-size', chunkSize, '--json']
    const { code, stderr } = await service.run(command, input)
    const { total = 0 } = await service.client.items.list.query({ count: true, limit: 1 })
    const stored = total - before
    expect([code, JSON.parse(stderr).error]).toMatchObject([6, { rows: stored, stored }])
    expect(JSON.parse(stderr).error.message).toContain(message)
    expect(JSON.parse(stderr).error.message).toMatch(`Stopped after row ${stored}. ${stored} rows were stored.`)
    before = total
  }
})

test('a chunk in flight keeps the time of its first attempt: 23 hours after it, the chunk is not sent again', async () => {
  await using service = await startService()
  writeFileSync(service.path('a.csv'), 'name,price\nLamp,1\n')
  const command = ['import', 'a.csv', ...ITEMS, '--wait', '0', '--url', 'http://127.0.0.1:1']
  const age = (hours: number) => {
    const state = JSON.parse(readFileSync(service.path('a.csv.progress'), 'utf8'))
    state.at -= hours * 3_600_000
    writeFileSync(service.path('a.csv.progress'), JSON.stringify(state))
  }
  expect((await service.run(command)).code).toBe(5)
  age(20)
  expect((await service.run(command)).code).toBe(5)
  age(10)
  const late = await service.run(command)
  expect([late.code, late.stderr]).toEqual([2, expect.stringContaining('first sent more than 23 hours ago')])
})

test('an import does not resume in another database, and no message shows the password of a database', async () => {
  await using service = await startService()
  writeFileSync(service.path('a.csv'), 'name,price\nLamp,1\n')
  const command = ['import', 'a.csv', ...ITEMS, '--wait', '0', '--url', 'http://127.0.0.1:1']
  await service.run(command)
  for (const database of ['file:other.db', 'postgresql://ada:hunter2@localhost/shop']) {
    const { code, stderr } = await service.run([...command, '--database', database])
    expect([code, stderr]).toEqual([2, expect.stringContaining('different url ("http://127.0.0.1:1", now "')])
    expect(stderr).not.toContain('hunter2')
  }
  expect(existsSync(service.path('other.db'))).toBe(false)
})

test('a chunk that may be stored is not sent again with another API key', async () => {
  await using service = await startService()
  let isLost = true
  await using proxy = await startProxy(service.url, () => isLost)
  const first = await service.client.keys.create.mutate({ name: 'first', role: 'writer' })
  const create = ['keys', 'create', '--name', 'second', '--role', 'admin', '--json', '--database']
  const second = JSON.parse((await service.run([...create, 'file:data/resource.db'])).stdout).key
  writeFileSync(service.path('a.csv'), 'name,price\nLamp,1\n')
  const run = (key: string) => {
    return service.run(['import', 'a.csv', ...ITEMS, '--wait', '0', '--url', proxy.url], '', { RESOURCE_KEY: key })
  }
  expect((await run(first.key)).code).toBe(5)
  expect(readFileSync(service.path('a.csv.progress'), 'utf8')).not.toContain(first.key)
  isLost = false
  const other = await run(second)
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('sent with another API key')])
  await service.run(['keys', 'revoke', '1', '--key', second])
  expect((await run(first.key)).code).toBe(7)
  expect((await run(second)).code).toBe(2)
  expect(JSON.parse((await service.run(['items', 'list', '--json', '--key', second])).stdout).length).toBe(1)
})

const REMAINING = 'name,price,import_line,import_error\n'
const NO_NUMBER = 'price: must be a number from 0 to 1e12'

/** Starts an import of these rows through a proxy that loses the response to the second row. */
async function withStoppedImport(rows: string) {
  const service = await startService()
  let isLost = true
  const proxy = await startProxy(service.url, () => isLost)
  writeFileSync(service.path('a.csv'), `name,price\n${rows}`)
  const command = ['import', 'a.csv', ...ITEMS, '--chunk-size', '1', '--wait', '0', '--url', proxy.url]
  const stopped = await service.run(command)
  isLost = false
  return {
    stopped,
    remaining: service.path('a.csv.remaining.csv'),
    resume: () => service.run(command),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
    },
  }
}

test('a resumed import begins a new file of remaining rows if the former was moved, and refuses a changed one', async () => {
  await using run = await withStoppedImport('Lamp,dear\nRug,1\nSofa,cheap\n')
  expect(run.stopped.code).toBe(5)
  const edited = readFileSync(run.remaining, 'utf8').replace('Sofa,cheap', 'Sofa,3')
  writeFileSync(run.remaining, edited)
  const refused = await run.resume()
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('has changed since the import stopped')])
  expect(readFileSync(run.remaining, 'utf8')).toBe(edited)
  renameSync(run.remaining, `${run.remaining}.moved`)
  expect((await run.resume()).code).toBe(6)
  expect(readFileSync(run.remaining, 'utf8')).toBe(`${REMAINING}Sofa,cheap,4,${NO_NUMBER}\n`)
})

test('a resumed import keeps the failed rows of the file of remaining rows, and replaces the others', async () => {
  await using run = await withStoppedImport('Lamp,dear\nRug,1\nSofa,2\n')
  expect(readFileSync(run.remaining, 'utf8')).toMatch(/^name.*\nLamp.*\nRug.*may have been imported.*\nSofa,2,4,\n$/)
  expect((await run.resume()).code).toBe(6)
  expect(readFileSync(run.remaining, 'utf8')).toBe(`${REMAINING}Lamp,dear,2,${NO_NUMBER}\n`)
})

test('an import that starts while another one of the file is under way keeps the remaining rows of that one', async () => {
  await using service = await startService()
  let isLost = true
  await using proxy = await startProxy(service.url, () => isLost)
  writeFileSync(service.path('a.csv'), 'Name,price\nLamp,dear\nRug,1\n')
  const command = ['import', 'a.csv', ...ITEMS, '--chunk-size', '1', '--wait', '0', '--url', proxy.url]
  const meanwhile = async () => {
    expect((await service.run([...command, '--yes'])).code).toBe(5)
    isLost = false
    return 'y'
  }
  const second = await service.typeOnTerminal(command, [
    { question: 'Import the file like this? [y/N]', text: meanwhile },
  ])
  expect([second.code, second.screen]).toEqual([6, expect.stringContaining('1 items imported, 1 failed')])
  const remaining = readFileSync(service.path('a.csv.remaining.csv'), 'utf8')
  expect(remaining).toBe(`${REMAINING.replace('name', 'Name')}Lamp,dear,2,${NO_NUMBER}\n`)
})

test('the remaining rows of an earlier import are kept under another name', async () => {
  await using service = await startService()
  const command = ['import', '-', ...ITEMS, '--format', 'csv']
  for (const name of ['Lamp', 'Rug', 'Sofa']) {
    expect((await service.run(command, `name,price\n${name},dear\n`)).code).toBe(6)
  }
  const read = (name: string) => readFileSync(service.path(name), 'utf8').split('\n')[1]?.split(',')[0]
  expect(['stdin.remaining.1.csv', 'stdin.remaining.2.csv', 'stdin.remaining.csv'].map(read)).toEqual([
    'Lamp',
    'Rug',
    'Sofa',
  ])
})

test('an import whose remaining rows do not fit on the disk stops, and resumes later', async () => {
  await using service = await startService()
  const rows = Array.from({ length: 300 }, (_, n) => `Item ${n},dear\n`).join('')
  writeFileSync(service.path('a.csv'), `name,price\n${rows}`)
  const full = await service.runOnFullDisk(['import', 'a.csv', ...ITEMS])
  expect([full.code, full.stderr]).toEqual([1, expect.stringContaining('EFBIG')])
  const resumed = await service.run(['import', 'a.csv', ...ITEMS])
  expect([resumed.code, resumed.stdout]).toEqual([6, '0 items imported, 300 failed\n'])
  expect(readFileSync(service.path('a.csv.remaining.csv'), 'utf8').match(/^Item \d+,dear,/gm)?.length).toBe(300)
})
