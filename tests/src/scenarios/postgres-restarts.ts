import { setTimeout as sleep } from 'node:timers/promises'
import { postgresTestDatabase } from '../engines.ts'
import { Readers } from '../readers.ts'
import { createBook } from '../records.ts'
import { expectAtLeast, expectAtMost, expectNone, expectTrue, report, type Scenario } from '../scenario.ts'
import { startService } from '../service.ts'
import { compareStored } from '../stored.ts'
import { Writers } from '../writers.ts'

const STOPS = 10
const DOWNTIME_MS = 1500
const SUCCESS_MS = 3000

export const postgresRestarts: Scenario = {
  name: 'postgres-restarts',
  run: async (log) => {
    await using database = await postgresTestDatabase()
    await using service = await startService(database.url)
    await using writers = new Writers(service.url, { mayBreak: false })
    await using readers = new Readers(service.url, '/books/1', await createBook(service.url))
    let slowestRead = 0
    let slowestWrite = 0
    let fewestRejections = Number.POSITIVE_INFINITY
    for (let stop = 0; stop < STOPS; stop++) {
      await writers.acknowledged(100)
      await readers.answered(100)
      const rejected = readers.rejections + writers.ledger.rejections
      await database.server.stop(stop % 2 === 0 ? 'fast' : 'crash')
      await sleep(DOWNTIME_MS)
      fewestRejections = Math.min(fewestRejections, readers.rejections + writers.ledger.rejections - rejected)
      await database.server.start()
      const returned = performance.now()
      const since = () => performance.now() - returned
      const reads = readers.answered(1).then(() => since())
      const writes = writers.acknowledged(1).then(() => since())
      slowestRead = Math.max(slowestRead, await reads)
      slowestWrite = Math.max(slowestWrite, await writes)
    }
    await readers.stop()
    const ledger = await writers.stop()
    const { lost, duplicated } = await compareStored(service.url, ledger)
    const fault = await database.check()
    const unexpected = [...readers.unexpected, ...ledger.unexpected]
    for (const line of [...unexpected, ...lost, ...duplicated].slice(0, 10)) log(line)
    return [
      report('reads answered, writes acknowledged', `${readers.correct}, ${ledger.acknowledged}`),
      expectNone('incorrect responses', unexpected.length),
      expectAtLeast('503 responses with Retry-After, minimum per outage', fewestRejections, 1, ''),
      expectAtMost('first successful read after an outage, slowest', slowestRead, SUCCESS_MS, 'ms'),
      expectAtMost('first successful write after an outage, slowest', slowestWrite, SUCCESS_MS, 'ms'),
      expectNone('acknowledged writes lost', lost.length),
      expectNone('duplicated writes', duplicated.length),
      expectTrue('database check clean', fault === undefined, fault),
    ]
  },
}
