import { createFuzzKey, fuzz, fuzzMalformed, seedOfRun } from '@resource/server/fuzz'
import { sqlitePlace } from '../engines.ts'
import { growth, megabytes } from '../memory.ts'
import { atMost, holds, none, type Row, told } from '../row.ts'
import { startService } from '../service.ts'

// Memory is compared after the first half: a process has what it needs only after some ten thousand.
const ROUNDS = 20
const REQUESTS = 8_000
const MALFORMED = 2_000
// The first 10,000 are sent by the suite.
const FROM = 10_000
const MOST_GROWTH = 10

export const badRequests: Row = {
  name: 'bad-requests',
  title: '200,000 generated bad requests',
  how: `${ROUNDS} times ${REQUESTS} requests drawn from the OpenAPI document (right, nearly right and wrong: methods, paths, ids, queries,
headers, bodies, tRPC calls) and ${MALFORMED} over raw sockets that are no HTTP or break off, to a service of their own,
eight at a time. Nineteen in twenty of the first carry an administrator's key. Each must be answered in ten
seconds, in the form and with a status that the document names, without a 5xx, a stack or the password that was sent. \`FUZZ_SEED\`
chooses others; a failure prints seed and request. Memory: the most after half of them against half-way.`,
  run: async (tell) => {
    await using place = await sqlitePlace()
    await using service = await startService(place.url, { settings: { RATE_LIMIT: '0' } })
    const key = await createFuzzKey(service.url)
    // No key there: what comes without one comes further.
    await using openPlace = await sqlitePlace()
    await using open = await startService(openPlace.url)
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
      tell(`${(round + 1) * (REQUESTS + MALFORMED)} requests, ${failures.length} failures`)
    }
    for (const failure of failures) tell(failure)
    return [
      told('FUZZ_SEED', String(seed)),
      none('5xx, stacks, late answers or answers in no known form', failures.length),
      holds('the processes live', !service.hasDied() && !open.hasDied()),
      told('statuses', [...statuses].sort((a, b) => a - b).join(', ')),
      atMost('growth of resident memory', growth(usages, 'memory'), MOST_GROWTH, '%'),
      told('resident, every 8,000', megabytes(usages, 'memory')),
      told('heap, every 8,000', megabytes(usages, 'heap')),
      atMost('growth of the heap', growth(usages, 'heap'), MOST_GROWTH, '%'),
      atMost('growth of resident memory, malformed ones', growth(openUsages, 'memory'), MOST_GROWTH, '%'),
      told('resident, every 2,000 malformed ones', megabytes(openUsages, 'memory')),
      told('heap, every 2,000 malformed ones', megabytes(openUsages, 'heap')),
    ]
  },
}
