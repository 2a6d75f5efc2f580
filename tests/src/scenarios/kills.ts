import { spread } from '@resource/bench/statistics'
import { postgresTestDatabase, sqliteTestDatabase, type TestDatabase } from '../engines.ts'
import { expectAtMost, expectNone, expectTrue, type Measurement, report, type Scenario } from '../scenario.ts'
import { startService } from '../service.ts'
import { compareStored } from '../stored.ts'
import { Writers } from '../writers.ts'

const KILLS = 50
const RESTART_MS = 2000
const MAX_WRITES_BETWEEN = 180

export const kills: Scenario = {
  name: 'kills',
  run: async (log) => {
    const measurements: Measurement[] = []
    for (const open of [sqliteTestDatabase, postgresTestDatabase]) {
      await using database = await open()
      measurements.push(...(await killOften(database, log)))
    }
    return measurements
  },
}

async function killOften(database: TestDatabase, log: (line: string) => void): Promise<Measurement[]> {
  const of = (name: string) => `${database.engine}: ${name}`
  let service = await startService(database.url)
  // Ends the service also when a restart fails.
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(async () => void (await service.end('SIGKILL')))
  const { url, port } = service
  await using writers = new Writers(url, { mayBreak: true })
  const starts: number[] = []
  for (let kill = 1; kill <= KILLS; kill++) {
    await writers.acknowledged(20 + Math.floor(Math.random() * MAX_WRITES_BETWEEN))
    await service.end('SIGKILL')
    service = await startService(database.url, { port })
    starts.push(service.startMs)
    if (kill % 10 === 0) log(`${database.engine}: ${kill} kills, ${writers.ledger.acknowledged} writes acknowledged`)
  }
  const restarts = spread(starts)
  const ledger = await writers.stop()
  const { lost, duplicated } = await compareStored(url, ledger)
  await service.end('SIGTERM')
  const fault = await database.check()
  for (const line of [...ledger.unexpected, ...lost, ...duplicated].slice(0, 10)) log(line)
  return [
    report(of('writes acknowledged, and retries'), `${ledger.acknowledged}, ${ledger.retries}`),
    expectNone(of('acknowledged writes lost'), lost.length),
    expectNone(of('duplicated writes'), duplicated.length),
    expectNone(of('incorrect responses'), ledger.unexpected.length),
    expectTrue(of('database check clean'), fault === undefined, fault),
    expectAtMost(of('slowest restart'), restarts.max, RESTART_MS, 'ms'),
    report(of('median restart'), `${Math.round(restarts.median)} ms`),
  ]
}
