import { existsSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startProxy, startService } from './processes.ts'

async function withItems(count: number) {
  const service = await startService()
  for (let start = 0; start < count; start += 1000) {
    const size = Math.min(1000, count - start)
    const items = Array.from({ length: size }, (_, n) => ({ name: `Item "${start + n}"`, price: n, category: null }))
    await service.client.items.createMany.mutate({ items })
  }
  return service
}

test('an interrupted export continues with --resume and contains every record once', async () => {
  await using service = await withItems(40_000)
  const command = ['export', '--type', 'items', '-o', 'out.ndjson']
  const killed = await service.start(command).signalAt('exported 10000 ', 'SIGKILL')
  expect(killed.code).toBe(null)
  const refused = await service.run(command)
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('use --resume or --restart')])
  const stopped = await service.start([...command, '--resume']).signalAt('exported 20000 ', 'SIGINT')
  expect(stopped.code).toBe(130)
  const resumed = await service.run([...command, '--resume'])
  expect([resumed.code, resumed.stdout]).toEqual([0, '40000 items exported\n'])
  const lines = readFileSync(service.path('out.ndjson'), 'utf8').trim().split('\n')
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(Array.from({ length: 40_000 }, (_, n) => n + 1))
  expect(existsSync(service.path('out.ndjson.progress'))).toBe(false)
})

test('export writes CSV to stdout, or a JSON array with --json, filtered and sorted', async () => {
  await using service = await withItems(3)
  const csv = await service.run(['export', '--type', 'items', '--sort', 'price_desc', '--where', 'price_lt=2'])
  expect(csv.stdout).toBe('id,name,price,category,version\n2,"Item ""1""",1,,1\n1,"Item ""0""",0,,1\n')
  const json = await service.run(['export', '--type', 'items', '--json'])
  expect(JSON.parse(json.stdout).map(({ id }: { id: number }) => id)).toEqual([1, 2, 3])
  const none = await service.run(['export', '--type', 'items', '--where', 'price_gt=9', '--json'])
  expect(none.stdout).toBe('[]\n')
  await service.run(['export', '--type', 'items', '--bom', '--fields', 'id', '-o', 'excel.csv'])
  expect(readFileSync(service.path('excel.csv'), 'utf8')).toBe('\uFEFFid\n1\n2\n3\n')
  const wrong = await service.run(['export', '--type', 'items', '--where', 'colour=red'])
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('one of: category, price_lt')])
})

test('an export takes its format from the file name and refuses names of formats that it does not write', async () => {
  await using service = await withItems(1)
  for (const name of ['out.ods', 'out.XLSX', 'out.xml']) {
    const refused = await service.run(['export', '--type', 'items', '-o', name])
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining(
        `${name}: export writes CSV, NDJSON or JSON; name the file .csv, .ndjson or .json, or add --format`,
      ),
    ])
    expect(existsSync(service.path(name))).toBe(false)
  }
  for (const more of [[], ['--restart']]) {
    const folder = await service.run(['export', '--type', 'items', '-o', '.', ...more])
    expect([folder.code, folder.stderr]).toEqual([2, '--output: . is a folder, not a file\n'])
  }
  await service.run(['export', '--type', 'items', '-o', 'array.json'])
  expect(JSON.parse(readFileSync(service.path('array.json'), 'utf8'))).toMatchObject([{ id: 1, price: 0 }])
  await service.run(['export', '--type', 'items', '-o', 'out.json', '--format', 'ndjson'])
  await service.run(['export', '--type', 'items', '-o', 'out.jsonl'])
  const line = '{"id":1,"name":"Item \\"0\\"","price":0,"category":null,"version":1}\n'
  expect(readFileSync(service.path('out.json'), 'utf8')).toBe(line)
  expect(readFileSync(service.path('out.jsonl'), 'utf8')).toBe(line)
})

test('an export replaces a file only with --restart', async () => {
  await using service = await withItems(3)
  await service.run(['export', '--type', 'items', '-o', 'out.csv'])
  const again = await service.run(['export', '--type', 'items', '-o', 'out.csv'])
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('out.csv already exists: use --restart')])
  expect((await service.run(['export', '--type', 'items', '-o', 'out.csv', '--restart'])).code).toBe(0)
})

test('an exported CSV file contains no spreadsheet formula, and an import restores the original text', async () => {
  await using service = await startService()
  const names = ['=HYPERLINK("http://x")', '+1', '-1', '@SUM(A1)', "'=1", "O'Brien", '1-2']
  await service.client.items.createMany.mutate({ items: names.map((name) => ({ name, price: 1 })) })
  await service.run(['export', '--type', 'items', '-o', 'out.csv'])
  const cells = readFileSync(service.path('out.csv'), 'utf8').trim().split('\n').slice(1)
  expect(cells).toEqual([
    '1,"\'=HYPERLINK(""http://x"")",1,,1',
    "2,'+1,1,,1",
    "3,'-1,1,,1",
    "4,'@SUM(A1),1,,1",
    "5,''=1,1,,1",
    "6,O'Brien,1,,1",
    '7,1-2,1,,1',
  ])
  const copied = await service.run(['import', 'out.csv', '--type', 'items', '--create'])
  expect(copied.stdout).toBe('7 items imported, 0 failed\n')
  const { items } = await service.client.items.list.query({ sort: 'id_desc', limit: 7 })
  expect(items.toReversed().map(({ name }) => name)).toEqual(names)
})

/** Exports through a proxy that loses every page, those after the first one, or none. */
async function withLosses(count: number) {
  const service = await withItems(count)
  let lostFrom = 1
  // By the page, which may be asked for again.
  const isFirst = (url: string) => decodeURIComponent(url).includes('"after":""')
  const proxy = await startProxy(service.url, (url) => lostFrom === 1 || (lostFrom === 2 && !isFirst(url)))
  return {
    path: service.path,
    run(file: string, from: number, ...options: string[]) {
      lostFrom = from
      // Long enough for the responses that arrive, on a busy machine too.
      const timeout = from === 1 ? '1' : from === NEVER ? '60' : '10'
      return service.run([
        'export',
        '--type',
        'items',
        '-o',
        file,
        '--url',
        proxy.url,
        '--timeout',
        timeout,
        ...options,
      ])
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
    },
  }
}

const NEVER = Number.POSITIVE_INFINITY

test('an export that gets no page changes neither the file nor the progress of an earlier one', async () => {
  await using exports = await withLosses(1500)
  const ids = (file: string) =>
    readFileSync(exports.path(file), 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(',')[0])
  const all = ['id', ...Array.from({ length: 1500 }, (_, n) => `${n + 1}`)]
  const first = await exports.run('out.csv', 1)
  expect([first.code, first.stderr]).toEqual([5, expect.stringMatching(/Stopped after 0 records\.\n$/)])
  expect((await exports.run('out.csv', NEVER)).code).toBe(0)
  expect((await exports.run('out.csv', 1, '--restart')).code).toBe(5)
  expect(ids('out.csv')).toEqual(all)
  expect((await exports.run('out.csv', 2, '--restart')).code).toBe(5)
  expect((await exports.run('out.csv', 1, '--restart')).code).toBe(5)
  const resumed = await exports.run('out.csv', NEVER, '--resume')
  expect([resumed.code, resumed.stdout]).toEqual([0, '1500 items exported\n'])
  expect(ids('out.csv')).toEqual(all)
})

test('--resume refuses a file that is shorter than what was exported, and another database', async () => {
  await using exports = await withLosses(1500)
  expect((await exports.run('out.csv', 2)).code).toBe(5)
  const other = await exports.run('out.csv', NEVER, '--resume', '--database', 'file:other.db')
  expect([other.code, other.stderr, existsSync(exports.path('other.db'))]).toEqual([
    2,
    expect.stringContaining(`now "file:${exports.path('other.db')}"`),
    false,
  ])
  truncateSync(exports.path('out.csv'), 10)
  const short = await exports.run('out.csv', NEVER, '--resume')
  expect([short.code, short.stderr]).toEqual([
    2,
    expect.stringMatching(/^out\.csv has 10 bytes, but \d+ were exported/),
  ])
  rmSync(exports.path('out.csv'))
  expect((await exports.run('out.csv', NEVER, '--resume')).stderr).toContain('out.csv has 0 bytes')
})

test('an export that does not fit on the disk fails, and resumes later', async () => {
  await using service = await withItems(1500)
  const command = ['export', '--type', 'items', '-o', 'out.ndjson']
  const full = await service.runOnFullDisk(command)
  expect([full.code, full.stderr]).toEqual([1, expect.stringContaining('EFBIG')])
  expect((await service.run([...command, '--resume'])).code).toBe(0)
  expect(readFileSync(service.path('out.ndjson'), 'utf8').match(/^{"id":\d+,.*}$/gm)?.length).toBe(1500)
})
