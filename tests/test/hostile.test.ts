import { expect, test } from 'vitest'
import { sqlitePlace } from '../src/engines.ts'
import { beHostile, FRESH_MS } from '../src/hostile/run.ts'
import { prepare, targetsOf } from '../src/hostile/targets.ts'
import { startService } from '../src/service.ts'

const GROUPS = 5
// Of some 120,000.
const SHARE = 37
const LEAST = 3_000
// A second is what the whole run holds it to, on a machine that it has for itself.
const LEFT_MS = 10_000

test('hostile clients of every kind leave the same process, which answers others at once and has nothing left of them', async () => {
  await using place = await sqlitePlace()
  await using service = await startService(place.url, { settings: { RATE_LIMIT: '0' } })
  const key = await prepare(service.url)
  const targets = await targetsOf(service.url)
  const groups = Array.from({ length: GROUPS }, (_, group) => targets.filter((_, n) => n % GROUPS === group))
  const isChosen = (n: number) => n % SHARE === 0
  const { requests, faults, fresh } = await beHostile(service, { key, groups, isChosen, leftForMs: LEFT_MS })
  expect(faults).toEqual([])
  expect(fresh.filter((ms) => ms > FRESH_MS)).toEqual([])
  expect(requests).toBeGreaterThan(LEAST)
  expect(await service.end('SIGTERM')).toEqual({ code: 0, stderr: '' })
})
