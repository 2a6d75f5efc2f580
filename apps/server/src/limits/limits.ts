import type { IncomingMessage } from 'node:http'
import type { Database } from '@resource/database'
import type { RequestHandler } from 'express'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { isLoopback } from '../http/host.ts'
import { HEALTH, WATCHED } from '../http/watched.ts'
import { createLoadGuard } from './load.ts'
import { Quota } from './quota.ts'
import { createRateLimit, type RateLimit } from './rate.ts'

/** What keeps callers from taking more than their share, and all of them from taking more than there is. */
export interface Limits {
  /** Whether there is no time for a request, which is asked once for each. */
  isTooMuch: (req: IncomingMessage) => boolean
  /** Counts a request against its caller's quota, or refuses it: mount it before what answers. */
  handle: RequestHandler
  /** Absent where callers are not counted. */
  rate: RateLimit | undefined
  quota: Quota | undefined
  /** How many requests each has refused. */
  refused: () => { rate_limit: number; overload: number }
  close: () => void
}

const REQUESTS_A_MINUTE = 6_000

/**
 * The limits that the settings name.
 *
 * @param countOpen how many requests are under way, without the one that is asked for
 * @param database asked whether it has time
 * @param log told how many were refused for overload
 */
export function createLimits(config: Config, countOpen: () => number, database: Database, log: Logger): Limits {
  const { TRUST_PROXY, MAX_REQUESTS, MAX_DELAY_MS } = config
  const onRefused = (count: number) => log.warn({ refused: count }, 'requests were refused for overload')
  const load = createLoadGuard({
    countOpen,
    isDatabaseCrowded: database.isCrowded ?? (() => false),
    mostOpen: MAX_REQUESTS,
    mostDelayMs: MAX_DELAY_MS,
    onRefused,
  })
  const limit = config.RATE_LIMIT ?? (isForOneself(config) ? 0 : REQUESTS_A_MINUTE)
  const quota = limit === 0 ? undefined : new Quota(limit)
  const rate = quota && createRateLimit(quota, TRUST_PROXY.length > 0)
  return {
    isTooMuch: ({ url = '' }) => !WATCHED.has(url) && load.refuses(),
    handle: (req, _res, next) => {
      if (!HEALTH.has(req.url)) rate?.count(req)
      next()
    },
    rate,
    quota,
    refused: () => ({ rate_limit: rate?.refused() ?? 0, overload: load.refused() }),
    close: load.close,
  }
}

/** Whether nobody but the users of this machine can come. */
function isForOneself({ HOST, TRUST_PROXY }: Config): boolean {
  return TRUST_PROXY.length === 0 && isLoopback(HOST)
}
