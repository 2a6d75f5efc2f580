import { expect, test } from 'vitest'
import { sqliteTestDatabase } from '../src/engines.ts'
import { FRESH_MS, runHostileClients } from '../src/hostile/run.ts'
import { prepare, targetsOf } from '../src/hostile/targets.ts'
import { startService } from '../src/service.ts'

const GROUPS = 5
// Sends every 37th of about 120,000 requests.
const SHARE = 37
const MIN_REQUESTS = 3_000
// The full run, on a machine without other load, requires one second.
const SETTLE_MS = 10_000

test('the service survives hostile clients of every kind, stays responsive and releases their resources', async () => {
  await using database = await sqliteTestDatabase()
  await using service = await startService(database.url, { settings: { RATE_LIMIT: '0' } })
  const key = await prepare(service.url)
  const targets = await targetsOf(service.url)
  const groups = Array.from({ length: GROUPS }, (_, group) => targets.filter((_, n) => n % GROUPS === group))
  const isChosen = (n: number) => n % SHARE === 0
  const { requests, faults, fresh } = await runHostileClients(service, { key, groups, isChosen, settleMs: SETTLE_MS })
  expect(faults).toEqual([])
  expect(fresh.filter((ms) => ms > FRESH_MS)).toEqual([])
  expect(requests).toBeGreaterThan(MIN_REQUESTS)
  expect(await service.end('SIGTERM')).toEqual({ code: 0, stderr: '' })
})
