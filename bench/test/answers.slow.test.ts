import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkAnswers, checkRows, workloadsOf } from '../src/check.ts'
import type { Copy, Engine } from '../src/engines/engine.ts'
import { openSqlite } from '../src/engines/sqlite.ts'
import { type Program, programs } from '../src/programs.ts'
import { startServer } from '../src/server.ts'
import { findLastCursor, type Target, workloads } from '../src/workloads.ts'

const ROWS = 1000

let folder: string
let engine: Engine

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bench-test-'))
  engine = await openSqlite(folder)
  await engine.seed(ROWS)
})

afterAll(() => rm(folder, { recursive: true }))

test.concurrent.for(programs.filter(({ peer }) => peer !== 'equipped'))(
  '$name returns the expected responses, rejects invalid requests and stores the same rows',
  { timeout: 120_000 },
  async (program) => {
    await using copy = await engine.copy(ROWS, program.name)
    await using server = await startServer(program, copy.url)

    await expectRightAnswers(program, copy, server.url)
  },
)

test.concurrent.for(programs.filter(({ peer }) => peer === 'equipped'))(
  '$name returns the expected responses, each with security headers, one log line and one count in the metrics',
  { timeout: 120_000 },
  async (program, { expect }) => {
    const logFile = join(folder, `${program.name}.log`)
    await using copy = await engine.copy(ROWS, program.name)
    await using log = await open(logFile, 'w')
    await using server = await startServer(program, copy.url, undefined, log.fd)
    const linesWith = async (id: string) =>
      (await readFile(logFile, 'utf8')).split('\n').filter((line) => line.includes(id))

    await expectRightAnswers(program, copy, server.url)
    const before = await countUserRequests(server.url)
    const { headers } = await fetch(`${server.url}/api/users/1`)
    const id = headers.get('x-request-id') ?? ''

    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(id).toMatch(/^[0-9a-f-]{36}$/)
    await expect.poll(() => linesWith(id)).toEqual([expect.stringContaining('"/api/users/1"')])
    await expect.poll(() => countUserRequests(server.url)).toBe(before + 1)
  },
)

async function expectRightAnswers(program: Program, copy: Copy, url: string) {
  const lastCursor = program.name === 'ours' ? await findLastCursor(url, ROWS) : ''
  const target: Target = { program, rows: ROWS, lastCursor }
  const chosen = workloadsOf(
    target,
    workloads.map(({ name }) => name),
  )
  expect(await checkAnswers(url, target, chosen)).toBe(chosen.length * 5)
  await checkRows(copy, target, chosen)
}

/** Number of requests below `/api/users/` in the program's metrics. */
async function countUserRequests(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const counts = metrics.matchAll(/^http_request_duration_seconds_count\{.*\/api\/users\/.* (\d+)$/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}
