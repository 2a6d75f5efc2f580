import { setTimeout as sleep } from 'node:timers/promises'
import { Load } from '@resource/bench/load'
import { percentile } from '@resource/bench/statistics'
import { sqlitePlace } from '../engines.ts'
import { growth, megabytes } from '../memory.ts'
import { openLoad } from '../open-load.ts'
import { createUsers } from '../records.ts'
import { atLeast, atMost, type Figure, none, type Row, rounded, told } from '../row.ts'
import { type Service, startService } from '../service.ts'

// The largest page.
const PATH = '/api/users?limit=1000'
const RECORDS = 1000
const CONNECTIONS = 16
const WARMING_MS = 5_000
const PEAK_MS = 10_000
const CALM_MS = 2_000
const TIMES = 4
const OVERLOAD_MS = 60_000
const STEPS = 12

export const overload: Row = {
  name: 'overload',
  title: `${TIMES} times the sustainable load for a minute`,
  how: `Sustainable is what ${CONNECTIONS} connections that never pause get answered, before and after the overload: pages of a thousand users. ${TIMES} times as many
requests a second come at an even pace, each on the free one of 500 connections. Goodput is answers 200 a second;
the time of a request is from its sending to the end of its answer.`,
  run: async () => {
    await using place = await sqlitePlace()
    await using service = await startService(place.url)
    await createUsers(service.url, RECORDS)
    await sustain(service, WARMING_MS)
    const before = await sustain(service, PEAK_MS)
    const usages = [await service.usage()]
    const overloaded = openLoad(service.url, PATH, (TIMES * before.requests) / before.seconds, OVERLOAD_MS)
    for (let step = 0; step < STEPS; step++) {
      await sleep(OVERLOAD_MS / STEPS)
      usages.push(await service.usage())
    }
    const { admitted, refused, failed, unsent, seconds } = await overloaded
    await sleep(CALM_MS)
    const after = await sustain(service, PEAK_MS)
    // A machine that others use is not as fast now as it was then.
    const peak = (before.requests + after.requests) / (before.seconds + after.seconds)
    const sustainedP99 = percentile(
      [...before.latencies, ...after.latencies].sort((a, b) => a - b),
      0.99,
    )
    const asked = (admitted.length + refused + failed + unsent) / seconds
    const sent = (admitted.length + refused + failed) / seconds
    const goodput = admitted.length / seconds
    const admittedP99 = percentile(admitted, 0.99)
    return [
      told(
        'sustainable before, after, and the p99 of both',
        `${rounded(before.requests / before.seconds)}, ${rounded(after.requests / after.seconds)} a second, ${rounded(sustainedP99)} ms`,
      ),
      told('asked for, and sent', `${rounded(asked)}, ${rounded(sent)} a second`),
      told('refused with 503 and Retry-After', `${rounded(refused / seconds)} a second`),
      none('other answers, or none', failed),
      atLeast('goodput against sustainable', (goodput / peak) * 100, 85, '%'),
      atMost('p99 of admitted requests against that of the sustainable load', admittedP99 / sustainedP99, 3, 'times'),
      told('admitted requests, p50 and p99', `${rounded(percentile(admitted, 0.5))}, ${rounded(admittedP99)} ms`),
      atMost('growth of resident memory, second half against half-way', growth(usages, 'memory'), 10, '%'),
      told('resident', megabytes(usages, 'memory')),
    ] satisfies Figure[]
  },
}

async function sustain({ url }: Service, ms: number) {
  const load = new Load(url, CONNECTIONS)
  const end = performance.now() + ms
  const goesOn = () => performance.now() < end
  const sample = await load.run(() => ({ method: 'GET', path: PATH }), 200, CONNECTIONS, goesOn)
  await load.close()
  return sample
}
