import { randomUUID } from 'node:crypto'
import type { Database, RateShare } from '@resource/database'
import type { Logger } from 'pino'
import { type Quota, type Usage, windowOf } from './quota.ts'

const EVERY_MS = 1_000
const MOST_PROCESSES = 1_000
// Who has used less of the quota at each of a hundred processes is within it.
const SHARE_WORTH_TELLING = 0.01

/**
 * Adds up what callers use at each process of one database: each tells the others once a second, so that a caller gets
 * at most what one second yields beyond the quota.
 *
 * @returns ends it, and forgets what this process told
 */
export function shareQuota(database: Database, quota: Quota, log: Logger): () => Promise<void> {
  const process = randomUUID()
  let row: RateShare | undefined
  let isFailing = false

  const tell = async (now: number) => {
    const minute = windowOf(now)
    const usage = JSON.stringify([...quota.own(now)].filter(([, used]) => used >= quota.limit * SHARE_WORTH_TELLING))
    if (usage === '[]' || (usage === row?.usage && minute === row.minute)) return
    await database.write(async (tx) => {
      const known = row && (await tx.rateShares.update(row.id, undefined, { minute, usage }))
      row = known?.after ?? (await tx.rateShares.insert({ process, minute, usage }))
      await tx.rateShares.deleteAll({ minute: { lt: minute - 1 } })
    })
  }

  const hear = async (now: number) => {
    const rows = await database.read.rateShares.page({
      where: { minute: windowOf(now) },
      order: { column: 'id', descending: false },
      take: MOST_PROCESSES,
    })
    quota.setElsewhere(sum(rows.filter((row) => row.process !== process)), now)
  }

  const exchange = async () => {
    const now = Date.now()
    if (quota.own(now).size === 0) return
    try {
      await tell(now)
      await hear(now)
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
  }, EVERY_MS).unref()
  return async () => {
    clearInterval(timer)
    await current
    const told = row
    if (told !== undefined)
      await database.write((tx) => tx.rateShares.delete(told.id, undefined)).catch(() => undefined)
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
