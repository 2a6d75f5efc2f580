import { sqlitePlace } from '../engines.ts'
import { beHostile, FRESH_MS } from '../hostile/run.ts'
import { prepare, targetsOf } from '../hostile/targets.ts'
import { growth, megabytes } from '../memory.ts'
import { atLeast, atMost, holds, none, type Row, told } from '../row.ts'
import { startService } from '../service.ts'

// One in four; HOSTILE_ALL sends all.
const SHARE = process.env.HOSTILE_ALL ? 1 : 4
const LEAST = 20_000
const LEFT_MS = 1_000
const MOST_GROWTH = 5

export const hostile: Row = {
  name: 'hostile',
  title: 'Hostile clients',
  how: `Requests to every path (REST, tRPC plain, batched and streamed, pages, console, health, metrics), by every method, with
every framing (none, length, chunked, a bad chunk, two expectations, gzip announced), to every stage (head cut, body cut, answer not read, idle, a byte a
second), and every way of leaving (FIN, RST, destroyed, half-closed): of the product one in ${SHARE}; \`HOSTILE_ALL=1\` sends all. 250 at a
time, from 200 addresses. After each group, the requests to one path, the process must be the same, and slots, sockets and timers as before; memory is compared as above.`,
  run: async (tell) => {
    await using place = await sqlitePlace()
    await using service = await startService(place.url, { settings: { RATE_LIMIT: '0' } })
    const key = await prepare(service.url)
    const targets = await targetsOf(service.url)
    // By a prime, so that every value of a dimension meets every value of the others.
    const isChosen = (n: number) => ((n * 7919) % 104_729) % SHARE === 0
    const outcome = await beHostile(service, {
      key,
      groups: targets.map((target) => [target]),
      isChosen,
      leftForMs: LEFT_MS,
      tell,
    })
    for (const fault of outcome.faults.slice(0, 20)) tell(fault)
    const { usages } = outcome
    return [
      atLeast('requests', outcome.requests, LEAST, ''),
      told('paths', String(targets.length)),
      told('answers by status', inWords(outcome.statuses)),
      holds('the process is the one that was started', !service.hasDied()),
      none('faults: late or wrong answers, connections, slots or timers left', outcome.faults.length),
      atMost(
        'a fresh request of another address after each group, slowest',
        Math.max(...outcome.fresh),
        FRESH_MS,
        'ms',
      ),
      atMost('until nothing was left after a group, slowest', Math.max(...outcome.left), LEFT_MS, 'ms'),
      atMost('growth of the heap', growth(usages, 'heap'), MOST_GROWTH, '%'),
      atMost('growth of resident memory', growth(usages, 'memory'), MOST_GROWTH, '%'),
      told('heap', megabytes(usages, 'heap')),
      told('resident', megabytes(usages, 'memory')),
    ]
  },
}

function inWords(statuses: Record<string, number>): string {
  return Object.entries(statuses)
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ')
}
