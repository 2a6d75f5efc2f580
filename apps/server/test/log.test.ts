import { afterEach, expect, test, vi } from 'vitest'
import { sampledLog } from '../src/http/sampled-log.ts'
import { shortened } from '../src/process/log.ts'
import { escaped, readable } from '../src/process/log-text.ts'
import { remembered } from '../src/process/once-loaded.ts'
import { startTestServer, type TestServer } from './harness.ts'

afterEach(() => void vi.useRealTimers())

const requestsIn = ({ log }: TestServer) =>
  log.map((line) => JSON.parse(line)).filter(({ msg }) => ['request', 'refused requests'].includes(msg))

test('a path of 15,000 characters is cut in the log, and its length is logged', async () => {
  await using server = await startTestServer()
  await fetch(`${server.url}/${'a'.repeat(15_000)}?secret=1`)
  await expect.poll(() => requestsIn(server).length).toBe(1)
  expect(requestsIn(server)[0].path).toBe(`/${'a'.repeat(255)}… (15001 characters)`)
})

test('every long text of a log line is cut, and a short one is not', () => {
  expect(shortened({ origin: 'x'.repeat(300), path: 'y'.repeat(256), ms: 1 })).toEqual({
    origin: `${'x'.repeat(256)}… (300 characters)`,
    path: 'y'.repeat(256),
    ms: 1,
  })
})

test('a log line contains no control characters and none that change the direction of text', () => {
  const line = JSON.stringify({ caller: 'subject a\u202eb\u009b1m\u200b\u2066' })
  expect(escaped(line)).toBe(String.raw`{"caller":"subject a\u202eb\u009b1m\u200b\u2066"}`)
  expect(JSON.parse(escaped(line))).toEqual(JSON.parse(line))
})

test('on a terminal a line has the time, what happened and its facts, without control characters', () => {
  const time = new Date('2026-11-27T10:31:04').getTime()
  const line = (facts: object) => readable(JSON.stringify({ time, pid: 1, hostname: 'a', ...facts }))
  const request = { id: 'x', address: '::1', method: 'GET', path: '/items', status: 200, ms: 1.2 }
  expect(line({ level: 30, msg: 'request', caller: 'nightly \u001b[1m', ...request })).toBe(
    '10:31:04 GET /items 200, 1.2 ms, nightly \\u001b[1m\n',
  )
  expect(line({ level: 40, msg: 'no key exists', create: 'npm run', host: '::1' })).toBe(
    '10:31:04 warning: no key exists create="npm run" host=::1\n',
  )
  expect(line({ level: 50, msg: 'unexpected error', err: { stack: 'Error: a\n    at b' } })).toBe(
    '10:31:04 error: unexpected error\nError: a\n    at b\n',
  )
})

test('of a hundred refused requests of one caller the first is logged, and after a second the number of the others', async () => {
  await using server = await startTestServer({ RATE_LIMIT: '10' })
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'], shouldAdvanceTime: false })
  for (let n = 0; n < 110; n++) await (await fetch(`${server.url}/items`)).text()
  expect(requestsIn(server).map(({ status }) => status)).toEqual([...Array(10).fill(200), 429])
  vi.advanceTimersByTime(1_000)
  expect(requestsIn(server).at(-1)).toMatchObject({
    msg: 'refused requests',
    address: '127.0.0.1',
    status: 429,
    reason: 'rate_limit',
    count: 99,
  })
})

test('a fault is logged once, then only its number, and again in full after a window without it', () => {
  vi.useFakeTimers()
  const lines: unknown[] = []
  const log = { warn: (line: object, message: string) => lines.push([line, message]) }
  const logFault = sampledLog(log as never, 'warn', 60_000, 'still unavailable')
  const fail = () => logFault('disk', { reason: 'disk' }, { err: 'stack' }, 'unavailable')
  for (let n = 0; n < 3; n++) fail()
  vi.advanceTimersByTime(60_000)
  fail()
  vi.advanceTimersByTime(120_000)
  fail()
  expect(lines).toEqual([
    [{ err: 'stack' }, 'unavailable'],
    [{ reason: 'disk', count: 2 }, 'still unavailable'],
    [{ reason: 'disk', count: 1 }, 'still unavailable'],
    [{ err: 'stack' }, 'unavailable'],
  ])
})

test('the kinds of lines that a caller makes up share one after a thousand', () => {
  vi.useFakeTimers()
  let lines = 0
  const logFault = sampledLog({ warn: () => lines++ } as never, 'warn', 1_000, 'more')
  for (let n = 0; n < 5_000; n++) logFault(String(n), {}, {}, 'refused')
  expect(lines).toBe(1_001)
})

test('a result is made once, and a failure is not kept', async () => {
  let calls = 0
  const load = remembered(async () => {
    calls++
    if (calls === 1) throw new Error('too many open files')
    return 'loaded'
  })
  await expect(load()).rejects.toThrow('too many open files')
  expect([await load(), await load(), calls]).toEqual(['loaded', 'loaded', 2])
})
