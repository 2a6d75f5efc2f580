import { randomUUID } from 'node:crypto'
import type { Database, RateShare } from '@resource/database'
import type { Logger } from 'pino'
import type { Quota, Usage } from './quota.ts'

const INTERVAL_MS = 1_000
const MAX_PROCESSES = 1_000
// A caller below this share of the quota at each of a hundred processes is within the quota.
const MIN_PUBLISHED_SHARE = 0.01

/**
 * Shares usage between all processes of one database. Each process publishes its counts once per second, so a caller can
 * exceed the quota by at most the requests of one second.
 *
 * @returns stops sharing, and deletes the counts of this process
 */
export function shareQuota(database: Database, quota: Quota, log: Logger): () => Promise<void> {
  const process = randomUUID()
  let row: RateShare | undefined
  let isFailing = false

  const publish = async (now: number) => {
    const minute = quota.window(now)
    const usage = JSON.stringify(
      [...quota.localUsage(now)].filter(([, used]) => used >= quota.limit * MIN_PUBLISHED_SHARE),
    )
    if (usage === '[]' || (usage === row?.usage && minute === row.minute)) return
    await database.write(async (tx) => {
      const [known] = row ? await tx.rateShares.write([{ id: row.id, change: { minute, usage } }]) : []
      const [{ after }] = known ? [known] : await tx.rateShares.write([{ create: { process, minute, usage } }])
      row = after
    })
    // A write of its own: two processes that have changed their rows and delete each other's would deadlock.
    await database.write((tx) => tx.rateShares.deleteAll({ minute: { lt: minute - 1 } }))
  }

  const readRemote = async (now: number) => {
    const minute = quota.window(now)
    const rows = await database.read.rateShares.page({
      where: { minute },
      order: { column: 'id', descending: false },
      take: MAX_PROCESSES,
    })
    quota.setRemoteUsage(sum(rows.filter((row) => row.process !== process)), minute)
  }

  const exchange = async () => {
    const now = performance.now()
    if (quota.localUsage(now).size === 0) return
    try {
      await publish(now)
      await readRemote(now)
      isFailing = false
    } catch (err) {
      if (!isFailing) log.warn({ err }, 'rate limits are not shared with the other processes')
      isFailing = true
    }
  }

  let current: Promise<void> | undefined
  const timer = setInterval(() => {
    current ??= exchange().finally(() => {
      current = undefined
    })
  }, INTERVAL_MS).unref()
  return async () => {
    clearInterval(timer)
    await current
    const published = row
    if (published !== undefined)
      await database.write((tx) => tx.rateShares.write([{ id: published.id, delete: true }])).catch(() => undefined)
  }
}

function sum(rows: RateShare[]): Usage {
  const total: Usage = new Map()
  for (const { usage } of rows) {
    for (const [caller, used] of JSON.parse(usage) as [string, number][]) {
      total.set(caller, (total.get(caller) ?? 0) + used)
    }
  }
  return total
}
