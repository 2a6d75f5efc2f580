import { setTimeout as sleep } from 'node:timers/promises'
import { startBalancer } from '../balancer.ts'
import { type Place, postgresPlace, sqlitePlace } from '../engines.ts'
import { Readers } from '../readers.ts'
import { createBook } from '../records.ts'
import { type Figure, holds, none, type Row, told } from '../row.ts'
import { type Service, startService } from '../service.ts'
import { compareStored } from '../stored.ts'
import { Writers } from '../writers.ts'

const RESTARTS = 20
const DRAIN_MS = 500

export const gracefulRestarts: Row = {
  name: 'graceful-restarts',
  title: 'Graceful restarts under load, behind a balancer',
  how: `Two processes on one database stand behind a trivial balancer: it asks each for /readyz every 100 ms, sends requests by turns to
those that last answered 200, over connections that it keeps alive, passes a backend over that refuses the connection, and sends
nothing else twice. Sixteen callers write as above and four read one record. ${RESTARTS} times one process, by turns, gets SIGTERM with
DRAIN_MS=${DRAIN_MS} and is started again when it has ended. Every answer but the right one is a failed request, a 503 too.`,
  run: async (tell) => {
    const figures: Figure[] = []
    for (const open of [sqlitePlace, postgresPlace]) {
      await using place = await open()
      figures.push(...(await restartOften(place, tell)))
    }
    return figures
  },
}

async function restartOften(place: Place, tell: (line: string) => void): Promise<Figure[]> {
  const of = (what: string) => `${place.engine}: ${what}`
  const settings = { DRAIN_MS: String(DRAIN_MS) }
  // One first: it brings the database up to date.
  const services = [await startService(place.url, { settings })]
  services.push(await startService(place.url, { settings }))
  await using balancer = await startBalancer(services.map(({ port }) => port))
  const readers = new Readers(balancer.url, '/books/1', await createBook(balancer.url))
  const writers = new Writers(balancer.url, { mayBreak: false })
  const codes = new Set<number | null>()
  let slowest = 0
  for (let restart = 0; restart < RESTARTS; restart++) {
    await writers.acknowledged(50)
    const at = restart % services.length
    const { port, end } = services[at] as Service
    const told = performance.now()
    codes.add((await end('SIGTERM')).code)
    slowest = Math.max(slowest, performance.now() - told)
    services[at] = await startService(place.url, { port, settings })
    while (!balancer.isReady(port)) await sleep(10)
  }
  await readers.stop()
  const ledger = await writers.stop()
  const { lost, doubled } = await compareStored(balancer.url, ledger)
  for (const { end } of services) await end('SIGTERM')
  const failed = [...readers.wrong, ...ledger.wrong]
  for (const line of [...failed, ...lost, ...doubled].slice(0, 10)) tell(line)
  return [
    told(of('reads answered, writes acknowledged'), `${readers.right}, ${ledger.acknowledged}`),
    none(of('failed requests'), failed.length + readers.refusals + ledger.refusals),
    holds(of('every process ended by itself, with code 0'), codes.size === 1 && codes.has(0), [...codes].join()),
    told(of('slowest end'), `${Math.round(slowest)} ms`),
    none(of('writes lost or doubled'), lost.length + doubled.length),
  ]
}
