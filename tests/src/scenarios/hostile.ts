import { sqliteTestDatabase } from '../engines.ts'
import { FRESH_MS, runHostileClients } from '../hostile/run.ts'
import { prepare, targetsOf } from '../hostile/targets.ts'
import { growth, megabytes } from '../memory.ts'
import { expectAtLeast, expectAtMost, expectNone, expectTrue, report, type Scenario } from '../scenario.ts'
import { startService } from '../service.ts'

// Sends one in four requests; HOSTILE_ALL sends all.
const SHARE = process.env.HOSTILE_ALL ? 1 : 4
const MIN_REQUESTS = 20_000
const SETTLE_MS = 1_000
const MAX_GROWTH = 5

export const hostile: Scenario = {
  name: 'hostile',
  run: async (log) => {
    await using database = await sqliteTestDatabase()
    await using service = await startService(database.url, { settings: { RATE_LIMIT: '0' } })
    const key = await prepare(service.url)
    const targets = await targetsOf(service.url)
    // Multiplied by a prime, so that the selection covers all pairs of values.
    const isChosen = (n: number) => ((n * 7919) % 104_729) % SHARE === 0
    const outcome = await runHostileClients(service, {
      key,
      groups: targets.map((target) => [target]),
      isChosen,
      settleMs: SETTLE_MS,
      log,
    })
    for (const fault of outcome.faults.slice(0, 20)) log(fault)
    const { usages } = outcome
    return [
      expectAtLeast('requests', outcome.requests, MIN_REQUESTS, ''),
      report('paths', String(targets.length)),
      report('responses by status', formatCounts(outcome.statuses)),
      expectTrue('the original process still runs', !service.hasDied()),
      expectNone(
        'faults: late or incorrect responses; connections, slots or timers not released',
        outcome.faults.length,
      ),
      expectAtMost('request from another address after each path, slowest', Math.max(...outcome.fresh), FRESH_MS, 'ms'),
      expectAtMost('release of all resources after a path, slowest', Math.max(...outcome.settled), SETTLE_MS, 'ms'),
      expectAtMost('growth of the heap', growth(usages, 'heap'), MAX_GROWTH, '%'),
      expectAtMost('growth of resident memory', growth(usages, 'memory'), MAX_GROWTH, '%'),
      report('heap', megabytes(usages, 'heap')),
      report('resident memory', megabytes(usages, 'memory')),
    ]
  },
}

function formatCounts(statuses: Record<string, number>): string {
  return Object.entries(statuses)
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ')
}
