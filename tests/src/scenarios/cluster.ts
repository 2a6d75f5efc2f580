import { readFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '@resource/postgres-test'
import {
  type Cluster,
  callPatroni,
  downloadPrograms,
  postmasterOf,
  processesOf,
  signalPart,
  startCluster,
  stopLater,
} from '@resource/postgres-test/cluster'
import { cpuPerRead } from '../instances.ts'
import { expectAtMost, expectNone, expectTrue, type Measurement, report, type Scenario } from '../scenario.ts'
import { startService } from '../service.ts'
import { compareStored, storedRecords } from '../stored.ts'
import { Writers } from '../writers.ts'

// `check:failover` sets both.
const IS_SHORT = process.env.CLUSTER_SHORT === '1'
const FOLDER = process.env.CLUSTER_FOLDER
// Below the ports that other tests take at random.
const PORT = 12_000 + 16 * Math.floor(Math.random() * 180)
const SETTINGS = { ALLOW_ANONYMOUS: 'true', RATE_LIMIT: '0', LOG_LEVEL: 'warn' }
const PAUSE_MS = 5_000
const STALLED_MS = 1_000
const SETTLED_WITHIN_MS = 60_000

interface Member {
  name: string
  role: string
  state: string
}

export const cluster: Scenario = {
  name: 'cluster',
  run: async (log) => {
    const folder = FOLDER ?? (await mkdtemp(join(tmpdir(), 'cluster-')))
    await using _ = stopLater(folder)
    try {
      await downloadPrograms(join(folder, 'programs'))
    } catch (error) {
      return [report('not run', (error as Error).message)]
    }
    const started = performance.now()
    const nodes = await startCluster(folder, { port: PORT, settings: SETTINGS })
    log(`started in ${seconds(performance.now() - started)}`)
    const measurements = await withoutLoss(folder, nodes, log)
    if (IS_SHORT) return measurements
    measurements.push(...(await cpuPerRead(nodes.databaseUrl)))
    return [...measurements, ...(await asynchronous(folder, nodes))]
  },
}

/** The faults after which every acknowledged write must be there, once. */
async function withoutLoss(folder: string, nodes: Cluster, log: (line: string) => void): Promise<Measurement[]> {
  const measurements: Measurement[] = []
  await using cleanup = new AsyncDisposableStack()
  const direct = cleanup.use(await startService(nodes.hostsUrl, { settings: SETTINGS }))
  const writers = {
    'through HAProxy and PgBouncer': cleanup.use(new Writers(nodes.url, { mayBreak: true, pauseMs: 40 })),
    'with three hosts': cleanup.use(new Writers(direct.url, { name: 'direct-', mayBreak: false, pauseMs: 40 })),
  }
  const all = Object.values(writers)
  const instances = processesOf(folder, 'service')
  const row = async (name: string, limitMs: number, fault: (leader: string) => Promise<unknown>) => {
    const leader = await settled(folder, nodes, 'sync_standby')
    for (const each of all) await each.acknowledged(20)
    for (const each of all) each.takeLongestPause()
    await fault(leader)
    for (const each of all) await each.acknowledged(20)
    for (const [setup, each] of Object.entries(writers)) {
      const gap = each.takeLongestPause()
      log(`${name}, ${setup}: ${seconds(gap)}`)
      measurements.push(expectAtMost(`${setup}: writes pause, ${name}`, gap, limitMs, 'ms'))
    }
  }

  if (!IS_SHORT) {
    await row('restart', 5_000, (leader) => callPatroni(nodes, leader, 'POST', '/restart', {}))
    await row('PAUSE and RESUME of PgBouncer', 8_000, async () => {
      await query(nodes.poolerUrl, 'PAUSE')
      await sleep(PAUSE_MS)
      await query(nodes.poolerUrl, 'RESUME')
    })
    await row('kill -9 of the PostgreSQL server', 8_000, async (leader) => {
      process.kill(postmasterOf(folder, leader), 'SIGKILL')
      await sleep(1000)
    })
  }
  await row('switchover', 8_000, (leader) => callPatroni(nodes, leader, 'POST', '/switchover', { leader }))
  await row('leader killed', 25_000, async (leader) => signalPart(folder, leader, 'SIGKILL'))

  const ledgers = await Promise.all(all.map((each) => each.stop()))
  const { lost, duplicated } = await compareStored(nodes.url, {
    items: new Map(ledgers.flatMap(({ items }) => [...items])),
    users: new Map(ledgers.flatMap(({ users }) => [...users])),
  })
  const unexpected = ledgers.flatMap((ledger) => ledger.unexpected)
  for (const line of [...unexpected, ...lost, ...duplicated].slice(0, 10)) log(line)
  const now = processesOf(folder, 'service')
  return [
    ...measurements,
    report('writes acknowledged', String(ledgers.reduce((sum, { acknowledged }) => sum + acknowledged, 0))),
    expectNone('incorrect responses', unexpected.length),
    expectNone('acknowledged writes lost', lost.length),
    expectNone('duplicated writes', duplicated.length),
    expectTrue('the same processes serve', String(now) === String(instances), String(now)),
  ]
}

/** What a killed leader costs without `synchronous_mode`: a report, since it depends on the moment. */
async function asynchronous(folder: string, nodes: Cluster): Promise<Measurement[]> {
  const measurements: Measurement[] = []
  await callPatroni(nodes, await settled(folder, nodes, 'sync_standby'), 'PATCH', '/config', {
    synchronous_mode: false,
  })
  for (const isStalled of [false, true]) {
    const leader = await settled(folder, nodes, 'replica')
    const writing = createItems(nodes.url)
    await sleep(STALLED_MS)
    if (isStalled) {
      for (const pid of processesOf(folder, leader)) {
        if (readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('walsender')) process.kill(pid, 'SIGSTOP')
      }
      await sleep(STALLED_MS)
    }
    const created = await writing.stop()
    signalPart(folder, leader, 'SIGKILL')
    const killed = performance.now()
    const later = createItems(nodes.url)
    while (later.created.size === 0) await sleep(50)
    const gap = performance.now() - killed
    await sleep(STALLED_MS)
    const twice = [...(await later.stop()).keys()].filter((id) => created.has(id))
    const stored = new Set((await storedRecords(nodes.url, 'items')).map((item) => item.name))
    const lost = [...created.values()].filter((name) => !stored.has(name)).length
    const name = `asynchronous, leader killed${isStalled ? ' 1 s after replication stalled' : ''}`
    measurements.push(
      report(name, `${seconds(gap)}, ${lost} of ${created.size} writes lost, ${twice.length} ids given twice`),
    )
  }
  return measurements
}

/** Creates items in turn from eight callers until it is stopped. */
function createItems(url: string) {
  const created = new Map<number, string>()
  let isStopped = false
  const callers = Array.from({ length: 8 }, async (_, caller) => {
    for (let n = 0; !isStopped; n++) {
      const name = `${performance.now()} ${caller}-${n}`
      const response = await fetch(`${url}/items/`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ name, price: 1 }),
        signal: AbortSignal.timeout(5_000),
      }).catch(() => undefined)
      if (response?.status === 201) created.set(((await response.json()) as { item: { id: number } }).item.id, name)
      else await sleep(50)
    }
  })
  return {
    created,
    stop: async () => {
      isStopped = true
      await Promise.all(callers)
      return created
    },
  }
}

/**
 * Starts the members that a fault ended, as systemd does, and waits until all replicate.
 *
 * @param role of at least one standby
 * @returns the name of the leader
 */
async function settled(folder: string, nodes: Cluster, role: string): Promise<string> {
  await startCluster(folder, { settings: SETTINGS })
  const until = performance.now() + SETTLED_WITHIN_MS
  for (;;) {
    const { members }: { members: Member[] } = JSON.parse(await callPatroni(nodes, 'postgresql1', 'GET', '/cluster'))
    const leader = members.find((member) => member.role === 'leader')
    const running = members.filter(({ state }) => state === 'running' || state === 'streaming')
    if (leader !== undefined && running.length === 3 && members.some((member) => member.role === role))
      return leader.name
    if (performance.now() > until) throw new Error(`the cluster does not recover: ${JSON.stringify(members)}`)
    await sleep(200)
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
