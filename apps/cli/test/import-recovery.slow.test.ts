import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startService } from './processes.ts'

const ITEMS = ['--type', 'items']

test('an import waits for an unreachable service and stores each row once after its restart', async () => {
  await using service = await startService()
  writeFileSync(
    service.path('a.csv'),
    `name,price\n${Array.from({ length: 12_000 }, (_, n) => `Item ${n},1\n`).join('')}`,
  )
  const running = service.start(['import', 'a.csv', ...ITEMS, '--chunk-size', '100'])
  await running.seen('imported 10000 ')
  await service.stop('SIGKILL')
  await running.seen('Cannot reach the service')
  await using again = await startService(service.folder, new URL(service.url).port)
  const { code, stdout, stderr } = await running.ended
  expect([code, stdout, stderr]).toEqual([
    0,
    '12000 items imported, 0 failed\n',
    expect.stringContaining('answers again'),
  ])
  const names = new Set<string>()
  let count = 0
  for await (const { name } of again.client.items.iterate({})) {
    names.add(name)
    count++
  }
  expect([count, names.size]).toEqual([12_000, 12_000])
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
  const run = () => service.run(['import', 'a.csv', '--type', 'items'])
  const outcomes = await Promise.all([run(), run(), run(), run()])
  // One that starts after the end of another finds the file imported.
  expect(outcomes.map(({ code }) => code).filter((code) => code !== 6 && code !== 4)).toEqual([])
  expect((await service.client.items.list.query({ count: true, limit: 1 })).total).toBe(2990)
  const names = readFileSync(service.path('a.csv.remaining.csv'), 'utf8').match(/^[^,\n]+/gm)
  expect(names).toEqual(['name', ...Array.from({ length: 10 }, (_, n) => `Item ${n * 300 + 7}`)])
  expect(existsSync(service.path('a.csv.progress'))).toBe(false)
})
