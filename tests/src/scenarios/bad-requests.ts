import { createFuzzKey, fuzz, fuzzMalformed, seedOfRun } from '@resource/server/fuzz'
import { sqliteTestDatabase } from '../engines.ts'
import { growth, megabytes } from '../memory.ts'
import { expectAtMost, expectNone, expectTrue, report, type Scenario } from '../scenario.ts'
import { startService } from '../service.ts'

// Memory growth is measured over the second half: usage is stable only after some 10,000 requests.
const ROUNDS = 20
const REQUESTS = 8_000
const MALFORMED = 2_000
// `npm run check` covers the first 10,000 requests of a seed.
const FROM = 10_000
const MAX_GROWTH = 10

export const badRequests: Scenario = {
  name: 'bad-requests',
  run: async (log) => {
    await using database = await sqliteTestDatabase()
    await using service = await startService(database.url, { settings: { RATE_LIMIT: '0' } })
    const key = await createFuzzKey(service.url)
    // A service without API keys: malformed requests, which carry none, get past authentication.
    await using anonymousDatabase = await sqliteTestDatabase()
    await using open = await startService(anonymousDatabase.url)
    const seed = seedOfRun()
    const failures: string[] = []
    const statuses = new Set<number>()
    const usages = [await service.usage()]
    const openUsages = [await open.usage()]
    for (let round = 0; round < ROUNDS && failures.length === 0; round++) {
      const drawn = await fuzz(service.url, { seed, from: FROM + round * REQUESTS, count: REQUESTS, key })
      const malformed = await fuzzMalformed(open.url, { seed, from: FROM + round * MALFORMED, count: MALFORMED })
      failures.push(...drawn.failures, ...malformed.failures)
      for (const status of [...drawn.statuses, ...malformed.statuses]) statuses.add(status)
      usages.push(await service.usage())
      openUsages.push(await open.usage())
      log(`${(round + 1) * (REQUESTS + MALFORMED)} requests, ${failures.length} failures`)
    }
    for (const failure of failures) log(failure)
    return [
      report('FUZZ_SEED', String(seed)),
      expectNone('5xx, stack traces, late or undocumented responses', failures.length),
      expectTrue('both processes survived', !service.hasDied() && !open.hasDied()),
      report('statuses', [...statuses].sort((a, b) => a - b).join(', ')),
      expectAtMost('growth of resident memory', growth(usages, 'memory'), MAX_GROWTH, '%'),
      report('resident memory, every 8,000 requests', megabytes(usages, 'memory')),
      report('heap, every 8,000 requests', megabytes(usages, 'heap')),
      expectAtMost('growth of the heap', growth(usages, 'heap'), MAX_GROWTH, '%'),
      expectAtMost('growth of resident memory, malformed requests', growth(openUsages, 'memory'), MAX_GROWTH, '%'),
      report('resident memory, every 2,000 malformed requests', megabytes(openUsages, 'memory')),
      report('heap, every 2,000 malformed requests', megabytes(openUsages, 'heap')),
    ]
  },
}
