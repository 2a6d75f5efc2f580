import { setTimeout as sleep } from 'node:timers/promises'
import { startBalancer } from '../balancer.ts'
import { postgresTestDatabase, sqliteTestDatabase, type TestDatabase } from '../engines.ts'
import { Readers } from '../readers.ts'
import { createBook } from '../records.ts'
import { expectNone, expectTrue, type Measurement, report, type Scenario } from '../scenario.ts'
import { MAIN, type Service, startService } from '../service.ts'
import { compareStored } from '../stored.ts'
import { Writers } from '../writers.ts'

const RESTARTS = 20
const DRAIN_MS = 500
const READERS = 8

export const gracefulRestarts: Scenario = {
  name: 'graceful-restarts',
  run: async (log) => {
    const measurements: Measurement[] = []
    for (const open of [sqliteTestDatabase, postgresTestDatabase]) {
      await using database = await open()
      measurements.push(...(await restartOften(database, Array(RESTARTS).fill(MAIN), log)))
    }
    return measurements
  },
}

/**
 * Restarts two processes in turns, behind a load balancer, during reads and writes.
 *
 * @param programs that of the process after each restart
 */
export async function restartOften(
  database: TestDatabase,
  programs: string[],
  log: (line: string) => void,
): Promise<Measurement[]> {
  const of = (name: string) => `${database.engine}: ${name}`
  const settings = { DRAIN_MS: String(DRAIN_MS) }
  const services: Service[] = []
  // Ends the services also when a restart fails.
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(async () => void (await Promise.all(services.map(({ end }) => end('SIGKILL')))))
  // Started one after the other: the first applies the migrations.
  services.push(await startService(database.url, { settings }))
  services.push(await startService(database.url, { settings }))
  await using balancer = await startBalancer(services.map(({ port }) => port))
  await using readers = new Readers(balancer.url, '/books/1', await createBook(balancer.url), READERS)
  await using writers = new Writers(balancer.url, { mayBreak: false })
  const codes = new Set<number | null>()
  let slowest = 0
  for (const [restart, main] of programs.entries()) {
    await writers.acknowledged(50)
    const at = restart % services.length
    const { port, end } = services[at] as Service
    const signaled = performance.now()
    codes.add((await end('SIGTERM')).code)
    slowest = Math.max(slowest, performance.now() - signaled)
    services[at] = await startService(database.url, { port, settings, main })
    while (!balancer.isReady(port)) await sleep(10)
  }
  await readers.stop()
  const ledger = await writers.stop()
  const { lost, duplicated } = await compareStored(balancer.url, ledger)
  for (const { end } of services) await end('SIGTERM')
  const failed = [...readers.unexpected, ...ledger.unexpected]
  for (const line of [...failed, ...lost, ...duplicated].slice(0, 10)) log(line)
  return [
    report(of('reads answered, writes acknowledged'), `${readers.correct}, ${ledger.acknowledged}`),
    expectNone(of('failed requests'), failed.length + readers.rejections + ledger.rejections),
    expectTrue(of('every process exited with code 0'), codes.size === 1 && codes.has(0), `codes: ${[...codes].join()}`),
    report(of('slowest shutdown'), `${Math.round(slowest)} ms`),
    expectNone(of('lost or duplicated writes'), lost.length + duplicated.length),
  ]
}
