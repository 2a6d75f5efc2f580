import { query } from '@resource/postgres-test'
import { postgresTestDatabase } from '../engines.ts'
import { p99, readEvenly } from '../reads.ts'
import { createBook } from '../records.ts'
import { expectAtMost, expectNone, report, type Scenario } from '../scenario.ts'
import { startService } from '../service.ts'
import { compareStored } from '../stored.ts'
import { Writers } from '../writers.ts'

const READS_PER_SECOND = 200
const WARM_UP_MS = 5_000
const PERIOD_MS = 10_000
const PATHS = ['/books/1', '/items?limit=10', '/api/users?limit=10']

export const stuckWrites: Scenario = {
  name: 'stuck-writes',
  run: async () => {
    await using database = await postgresTestDatabase()
    const { server, url } = database
    await using standby = await server.startStandby()
    await query(url, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
    await query(url, 'SELECT pg_reload_conf()')
    await using service = await startService(url)
    await createBook(service.url)
    const readFor = (ms: number) => {
      const end = performance.now() + ms
      return readEvenly(service.url, PATHS, READS_PER_SECOND, () => performance.now() < end)
    }
    await readFor(WARM_UP_MS)
    const quiet = await readFor(PERIOD_MS)
    await using writers = new Writers(service.url, { mayBreak: false })
    await writers.acknowledged(100)
    const { rows } = await query(standby.url, 'SELECT pid FROM pg_stat_wal_receiver')
    const { pid } = rows[0]
    const before = writers.ledger.acknowledged
    process.kill(pid, 'SIGSTOP')
    const stuck = await readFor(PERIOD_MS).finally(() => process.kill(pid, 'SIGCONT'))
    const during = writers.ledger.acknowledged - before
    await writers.acknowledged(100)
    const ledger = await writers.stop()
    const { lost, duplicated } = await compareStored(service.url, ledger)
    return [
      // Those whose commits the standby had confirmed.
      expectAtMost('writes acknowledged while the synchronous standby is stopped', during, 16, ''),
      expectNone('failed reads', quiet.failed + stuck.failed),
      report(
        'p99 of reads without writes and during the stop',
        `${p99(quiet).toFixed(1)}, ${p99(stuck).toFixed(1)} ms`,
      ),
      expectAtMost('p99 of reads relative to that without writes', p99(stuck) / p99(quiet), 2, 'times'),
      expectNone('incorrect responses', ledger.unexpected.length),
      expectNone('acknowledged writes lost', lost.length),
      expectNone('duplicated writes', duplicated.length),
    ]
  },
}
