import { setTimeout as sleep } from 'node:timers/promises'
import { postgresPlace } from '../engines.ts'
import { Readers } from '../readers.ts'
import { createBook } from '../records.ts'
import { atLeast, atMost, holds, none, type Row, told } from '../row.ts'
import { startService } from '../service.ts'
import { compareStored } from '../stored.ts'
import { Writers } from '../writers.ts'

const STOPS = 10
const AWAY_MS = 1500
const SUCCESS_MS = 3000

export const postgresRestarts: Row = {
  name: 'postgres-restarts',
  title: 'PostgreSQL stopped and started under load',
  how: `Sixteen callers write as above and four read one record. ${STOPS} times PostgreSQL is stopped, by turns as an administrator
does and as a crash does (SIGQUIT), and started again ${AWAY_MS} ms after it has ended. Any answer but the right one and a 503 with
Retry-After is wrong, and so is a connection of the service's that breaks. In the end every record is compared as above.`,
  run: async (tell) => {
    await using place = await postgresPlace()
    await using service = await startService(place.url)
    const writers = new Writers(service.url, { mayBreak: false })
    const readers = new Readers(service.url, '/books/1', await createBook(service.url))
    let slowestRead = 0
    let slowestWrite = 0
    let leastRefusals = Number.POSITIVE_INFINITY
    for (let stop = 0; stop < STOPS; stop++) {
      await writers.acknowledged(100)
      await readers.answered(100)
      const refused = readers.refusals + writers.ledger.refusals
      await place.server.stop(stop % 2 === 0 ? 'fast' : 'crash')
      await sleep(AWAY_MS)
      leastRefusals = Math.min(leastRefusals, readers.refusals + writers.ledger.refusals - refused)
      await place.server.start()
      const returned = performance.now()
      const since = () => performance.now() - returned
      const reads = readers.answered(1).then(() => since())
      const writes = writers.acknowledged(1).then(() => since())
      slowestRead = Math.max(slowestRead, await reads)
      slowestWrite = Math.max(slowestWrite, await writes)
    }
    await readers.stop()
    const ledger = await writers.stop()
    const { lost, doubled } = await compareStored(service.url, ledger)
    const fault = await place.check()
    const wrong = [...readers.wrong, ...ledger.wrong]
    for (const line of [...wrong, ...lost, ...doubled].slice(0, 10)) tell(line)
    return [
      told('reads answered, writes acknowledged', `${readers.right}, ${ledger.acknowledged}`),
      none('wrong answers', wrong.length),
      atLeast('answers 503 with Retry-After, each time it was away', leastRefusals, 1, ''),
      atMost('first read after its return, slowest', slowestRead, SUCCESS_MS, 'ms'),
      atMost('first write after its return, slowest', slowestWrite, SUCCESS_MS, 'ms'),
      none('acknowledged writes lost', lost.length),
      none('writes doubled', doubled.length),
      holds('database check clean', fault === undefined, fault),
    ]
  },
}
