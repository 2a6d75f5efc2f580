import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startService, startServiceProcess } from './processes.ts'

const items = (count: number) =>
  `name,price,category\n${Array.from({ length: count }, (_, n) => `Item ${n},${n % 100},\n`).join('')}`

test('an import of 60,000 items that is interrupted, killed and offline stores each item once, in flat memory', {
  timeout: 600_000,
}, async () => {
  await using service = await startServiceProcess()
  writeFileSync(service.path('few.csv'), items(2000))
  writeFileSync(service.path('items.csv'), items(60_000))
  const few = await service.start(['import', 'few.csv', '--type', 'items']).ended
  await service.client.items.delete.mutate({ id: 1 })

  const command = ['import', 'items.csv', '--type', 'items']
  const interrupted = await service.start(command).signalAt('imported 30000 ', 'SIGINT')
  expect([interrupted.code, interrupted.stderr]).toEqual([
    130,
    expect.stringContaining('Run the same command to resume.'),
  ])
  expect(interrupted.stderr).toMatch(/imported 30000 of 60000 \(\d+ per second, \d+ (s|min) left\)/)
  expect(statSync(service.path('items.csv.progress')).mode & 0o777).toBe(0o600)
  const killed = await service.start(command).signalAt('imported 40000 ', 'SIGKILL')
  expect(killed.code).toBe(null)
  const resumed = service.start(command)
  await resumed.seen('imported 50000 ')
  await service.stop('SIGKILL')
  await resumed.seen('Cannot reach the service')
  await using again = await startServiceProcess(service.folder, new URL(service.url).port)
  const done = await resumed.ended
  expect([done.code, done.stdout]).toEqual([0, '60000 items imported, 0 failed\n'])
  expect([existsSync(service.path('items.csv.progress')), existsSync(service.path('items.csv.remaining.csv'))]).toEqual(
    [false, false],
  )

  const exported = await again.start(['export', '--type', 'items', '-o', 'out.csv']).ended
  const lines = readFileSync(service.path('out.csv'), 'utf8').trim().split('\n').slice(1)
  expect(lines.length).toBe(1999 + 60_000)
  expect(new Set(lines.map((line) => line.split(',')[1])).size).toBe(60_000)
  const updated = await again.start(['import', 'out.csv', '--type', 'items', '--update']).ended
  expect([updated.code, updated.stdout]).toEqual([0, '0 items created, 0 updated, 61999 unchanged, 0 failed\n'])
  await again.run(['export', '--type', 'items', '-o', 'same.csv'])
  expect(readFileSync(service.path('same.csv'))).toEqual(readFileSync(service.path('out.csv')))
  process.stdout.write(
    `peak MiB: 2,000 rows ${few.peakMiB.toFixed()}, Ctrl-C ${interrupted.peakMiB.toFixed()}, resumed ${done.peakMiB.toFixed()}, export ${exported.peakMiB.toFixed()}, update ${updated.peakMiB.toFixed()}\n`,
  )
  for (const { peakMiB } of [interrupted, done, exported, updated]) expect(peakMiB).toBeLessThan(few.peakMiB + 45)
})

test('invalid and rejected rows are reported by line and written to a file; the rest is imported', async () => {
  await using service = await startService()
  // One byte more than a password may have.
  const long = `hunter2${'x'.repeat(1018)}`
  const rows = `name,email,password\nA,a@x.org,\n"B\nb",b,\nC,A@x.org,\nD,d@x.org,secret words,5\nE,e@x.org,${long}\nF,f@x.org,\n`
  writeFileSync(service.path('users.csv'), rows)
  const { code, stdout, stderr } = await service.run(['import', 'users.csv', '--type', 'users', '--json'])
  expect([code, JSON.parse(stdout)]).toEqual([6, { imported: 2, failed: 4 }])
  const password = 'password: must be non-empty text of at most 1024 bytes'
  expect(JSON.parse(stderr)).toEqual({
    error: {
      code: 'partial',
      exit_code: 6,
      message: expect.stringContaining('users.csv.remaining.csv'),
      remaining: service.path('users.csv.remaining.csv'),
      group: expect.any(String),
      rows: [
        { line: 3, message: 'email: must be a valid e-mail address of at most 254 characters' },
        { line: 5, message: 'email: already in use by another user' },
        { line: 6, message: 'has 4 cells, the first line has 3' },
        { line: 7, message: password },
      ],
    },
  })
  expect(stderr).not.toMatch(/hunter2|secret words/)
  expect((await service.client.users.list.query({})).users.map(({ name }) => name)).toEqual(['A', 'F'])

  const remaining = readFileSync(service.path('users.csv.remaining.csv'), 'utf8')
  expect(remaining.split('\n')[0]).toBe('name,email,password,import_line,import_error')
  expect(remaining).toContain('\nC,A@x.org,,5,email: already in use by another user\n')
  expect(remaining).toContain('\nD,d@x.org,secret words,6,"has 4 cells, the first line has 3",5\n')
  expect(statSync(service.path('users.csv.remaining.csv')).mode & 0o777).toBe(0o600)
  writeFileSync(service.path('corrected.csv'), remaining.replace('A@x.org', 'c@x.org'))
  const corrected = await service.run(['import', 'corrected.csv', '--type', 'users', '--json'])
  expect(JSON.parse(corrected.stdout)).toEqual({ imported: 1, failed: 3 })
})

test('however many e-mail addresses of a chunk are taken, it is sent twice', async () => {
  await using service = await startService()
  const users = Array.from({ length: 20 }, (_, n) => ({ name: `User ${n}`, email: `${n}@example.com` }))
  await service.client.users.createMany.mutate({ users: users.filter((_, n) => n % 2 === 0) })
  const rows = users.map(({ name, email }) => `${name},${email}\n`)
  writeFileSync(service.path('users.csv'), `name,email\n${rows.join('')}`)
  const { code, stdout } = await service.run(['import', 'users.csv', '--type', 'users', '--json'])
  expect([code, JSON.parse(stdout)]).toEqual([6, { imported: 10, failed: 10 }])
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  expect(metrics.match(/^resource_call_duration_seconds_count\{procedure="users\.\w+",.*$/gm)).toEqual([
    'resource_call_duration_seconds_count{procedure="users.createMany",outcome="ok"} 1',
    'resource_call_duration_seconds_count{procedure="users.createMany",outcome="client_error"} 1',
    'resource_call_duration_seconds_count{procedure="users.updateMany",outcome="ok"} 1',
  ])
  const { users: stored } = await service.client.users.list.query({ limit: 100 })
  expect(stored.map(({ email }) => email).sort()).toEqual(users.map(({ email }) => email).sort())
})

test('a resumed import rejects a changed file and a changed chunk size', async () => {
  await using service = await startService()
  writeFileSync(service.path('items.csv'), items(30_000))
  const command = ['import', 'items.csv', '--type', 'items']
  await service.start(command).signalAt('imported 10000 ', 'SIGKILL')
  const other = await service.run([...command, '--chunk-size', '10'])
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('different chunkSize (500, now 10)')])
  writeFileSync(service.path('items.csv'), items(29_999))
  const changed = await service.run(command)
  expect([changed.code, changed.stderr]).toEqual([2, expect.stringContaining('items.csv has changed')])
})

test('an unknown column or a missing file stops the import before anything is stored', async () => {
  await using service = await startService()
  writeFileSync(service.path('a.csv'), 'name,price,cost\nLamp,1,1\n')
  const { code, stderr } = await service.run(['import', 'a.csv', '--type', 'items'])
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('Unknown columns: cost. Allowed: name, price, category. '),
  ])
  expect((await service.run(['import', 'none.csv', '--type', 'items'])).stderr).toContain('File not found: none.csv')
})

test('the errors of a JSON file name the record, because such a file often has one line', async () => {
  await using service = await startService()
  writeFileSync(service.path('items.json'), '[{"name":"Lamp","price":1},{"name":"Rug"},{"name":"Desk","price":"2"}]')
  const { code, stderr } = await service.run(['import', 'items.json', '--type', 'items'])
  expect([code, stderr.split('\n').filter((line) => line.startsWith('record'))]).toEqual([
    6,
    ['record 2: price: is required', 'record 3: price: must be a number from 0 to 1e12'],
  ])
  const remaining = service.path('items.json.remaining.ndjson')
  expect(
    readFileSync(remaining, 'utf8')
      .split('\n')
      .slice(0, 2)
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { name: 'Rug', import_record: 2, import_error: 'price: is required' },
    { name: 'Desk', price: '2', import_record: 3, import_error: 'price: must be a number from 0 to 1e12' },
  ])
  const again = await service.run(['import', remaining, '--type', 'items', '--json'])
  expect(JSON.parse(again.stderr).error.rows).toEqual([
    { line: 1, message: 'price: is required' },
    { line: 2, message: 'price: must be a number from 0 to 1e12' },
  ])
})

test('import reads NDJSON and JSON arrays from stdin', async () => {
  await using service = await startService()
  const from = (format: string) => ['import', '-', '--type', 'items', '--format', format, '--json']
  const array = '[\n {"name":"J \\"[","price":1}, 5,\n {"name":"K","price":2,"x":1}, {"name":"L","price":3}]\n'
  const json = await service.run(from('json'), array)
  expect([json.code, JSON.parse(json.stdout)]).toEqual([6, { imported: 2, failed: 2 }])
  expect(JSON.parse(json.stderr).error.rows).toEqual([
    { record: 2, line: 2, message: 'must be a JSON object' },
    { record: 3, line: 3, message: 'unknown fields: x' },
  ])
  const further = await service.run(from('json'), '[{"name":"O","price":1}]\n]')
  const message = 'Line 2: the file must contain one JSON array and nothing else'
  expect([further.code, JSON.parse(further.stderr)]).toEqual([2, { error: { code: 'invalid', exit_code: 2, message } }])
  const ndjson = await service.run(from('ndjson'), '{"name":"M","price":1}\n\n{"name":"N","price":1,"category":"c"}')
  expect([ndjson.code, JSON.parse(ndjson.stdout)]).toEqual([0, { imported: 2, failed: 0 }])
  const names = (await service.client.items.list.query({})).items.map(({ name }) => name)
  expect(names).toEqual(['J "[', 'L', 'M', 'N'])
})
