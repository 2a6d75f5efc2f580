import { spread } from '@resource/bench/statistics'
import { type Place, postgresPlace, sqlitePlace } from '../engines.ts'
import { atMost, type Figure, holds, none, type Row, told } from '../row.ts'
import { startService } from '../service.ts'
import { compareStored } from '../stored.ts'
import { Writers } from '../writers.ts'

const KILLS = 50
const RESTART_MS = 2000
const MOST_BETWEEN = 180

export const kills: Row = {
  name: 'kills',
  title: 'kill -9 under write load',
  how: `Sixteen callers write without a pause (creates, bulk creates, changes, deletions), each write with an Idempotency-Key and sent
again until it is acknowledged. ${KILLS} times the process is killed after some further writes, 20 to 200 and started again. In the end
every record is compared with what was acknowledged, versions too, which a change made twice would show; then the database is
checked: by \`resource check\`, on PostgreSQL by amcheck and the validity of constraints and indexes.`,
  run: async (tell) => {
    const figures: Figure[] = []
    for (const open of [sqlitePlace, postgresPlace]) {
      await using place = await open()
      figures.push(...(await killOften(place, tell)))
    }
    return figures
  },
}

async function killOften(place: Place, tell: (line: string) => void): Promise<Figure[]> {
  const of = (what: string) => `${place.engine}: ${what}`
  let service = await startService(place.url)
  const { url, port } = service
  const writers = new Writers(url, { mayBreak: true })
  const starts: number[] = []
  for (let kill = 1; kill <= KILLS; kill++) {
    await writers.acknowledged(20 + Math.floor(Math.random() * MOST_BETWEEN))
    await service.end('SIGKILL')
    service = await startService(place.url, { port })
    starts.push(service.startMs)
    if (kill % 10 === 0) tell(`${place.engine}: ${kill} kills, ${writers.ledger.acknowledged} writes acknowledged`)
  }
  const restarts = spread(starts)
  const ledger = await writers.stop()
  const { lost, doubled } = await compareStored(url, ledger)
  await service.end('SIGTERM')
  const fault = await place.check()
  for (const line of [...ledger.wrong, ...lost, ...doubled].slice(0, 10)) tell(line)
  return [
    told(of('writes acknowledged, and sent again'), `${ledger.acknowledged}, ${ledger.repeats}`),
    none(of('acknowledged writes lost'), lost.length),
    none(of('writes doubled'), doubled.length),
    none(of('wrong answers'), ledger.wrong.length),
    holds(of('database check clean'), fault === undefined, fault),
    atMost(of('slowest restart of all'), restarts.max, RESTART_MS, 'ms'),
    told(of('median restart'), `${Math.round(restarts.median)} ms`),
  ]
}
