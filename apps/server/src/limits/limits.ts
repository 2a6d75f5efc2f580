import type { ServerResponse } from 'node:http'
import type { Database } from '@resource/database'
import { ApiError } from '@resource/openapi'
import type { Request } from 'express'
import type { Logger } from 'pino'
import type { Access } from '../access/access.ts'
import { credentials } from '../access/authenticate.ts'
import { ANONYMOUS, type Caller } from '../access/caller.ts'
import { callerAddress } from '../http/address.ts'
import type { Check } from '../http/checks.ts'
import { isAllowedPreflight } from '../http/cross-origin.ts'
import { HEALTH_PATHS, MONITORING_PATHS } from '../http/health.ts'
import { sampledLog } from '../http/sampled-log.ts'
import type { Config } from '../process/config.ts'
import { Quota } from './quota.ts'
import { createRateLimit } from './rate-limit.ts'

/** Rate limits per caller, and load shedding for the whole service. */
export type Limits = ReturnType<typeof createLimits>

const DEFAULT_RATE_LIMIT = 6_000
// Of MAX_REQUESTS. A caller may have so many requests in progress even if others use all of them, and so many more are served.
const SHARE = 0.25
const MAX_REFUSED_CALLERS = 1_000
const OVERLOAD = 'requests refused for overload'

/**
 * Creates the limits of the configuration.
 *
 * @param access identifies callers, and which of them are exempt
 * @param countOpen the number of requests in progress, without the current one
 * @param database its queue counts as load
 * @param log gets the number of requests refused for overload
 */
export function createLimits(config: Config, access: Access, countOpen: () => number, database: Database, log: Logger) {
  const logOverload = sampledLog(log, 'warn', 1_000, OVERLOAD)
  let overload = 0
  const limit = config.RATE_LIMIT ?? DEFAULT_RATE_LIMIT
  const quota = limit === 0 ? undefined : new Quota(limit)
  const behindProxy = config.TRUST_PROXY.length > 0
  const rate = quota && createRateLimit(quota, behindProxy)
  // By default, local requests without credentials are exempt: nobody else uses such a service.
  const isExempt = config.RATE_LIMIT === undefined ? access.isPrivate : () => false
  const check: Check = (req) => {
    if (rate === undefined || HEALTH_PATHS.has(req.url)) return undefined
    // After a refused one, browsers report a network error instead of the 429.
    if (isAllowedPreflight(config.CORS_ORIGINS, req)) return undefined
    const count = (isExempt: boolean) => {
      if (isExempt || rate.count(req)) return undefined
      return verifiedCaller(access, req).then((caller) => rate.countCaller(req, caller))
    }
    const exempt = isExempt(req)
    return exempt instanceof Promise ? exempt.then(count) : count(exempt)
  }
  const share = Math.floor(config.MAX_REQUESTS * SHARE)
  /** The requests in progress of each caller, but for those that began while there were few. */
  const open = new Map<string, number>()
  const ends = new Map<ServerResponse, () => void>()
  const hasRoom = (req: Request, res: ServerResponse) => {
    const total = countOpen()
    // Most of the time there are few, and counting would cost more than it tells.
    if (total < share) return true
    const caller = queueKey(req)
    const count = open.get(caller) ?? 0
    if (total >= config.MAX_REQUESTS && (count >= share || total >= config.MAX_REQUESTS + share)) return false
    open.set(caller, count + 1)
    const end = () => {
      if (!ends.delete(res)) return
      const left = (open.get(caller) ?? 0) - 1
      if (left > 0) open.set(caller, left)
      else open.delete(caller)
    }
    ends.set(res, end)
    res.once('close', end)
    return true
  }
  /** The callers whose work in the database was refused, by the requests that asked for it. */
  const refusedCallers = new Map<string, string>()
  const sourceOf = (req: Request) => `${queueKey(req)} ${(req.originalUrl ?? req.url).split('?', 1)}`
  const hasRefusedWork = (req: Request) => {
    if (refusedCallers.size === 0) return false
    const source = sourceOf(req)
    const caller = refusedCallers.get(source)
    if (caller === undefined) return false
    const isRefused = database.isOverloaded(caller)
    if (!isRefused) refusedCallers.delete(source)
    return isRefused
  }
  const queueKey = (req: Request): string => {
    if (MONITORING_PATHS.has(req.url)) return 'monitoring'
    return credentials(req.headers) ?? callerAddress(req, behindProxy)
  }
  return {
    /**
     * Whether a request must be refused for overload. Call it once per request, when its turn comes.
     *
     * @param isLate whether it has waited too long for that
     */
    isOverloaded: (req: Request, res: ServerResponse, isLate: boolean): boolean => {
      if (MONITORING_PATHS.has(req.url)) return false
      if (!isLate && !hasRefusedWork(req) && hasRoom(req, res)) return false
      overload++
      logOverload(OVERLOAD, {}, {}, OVERLOAD)
      return true
    },
    /**
     * Refuses requests of the same source for the same path as long as too much work of their caller waits for the database:
     * later, a refusal costs ten times as much.
     *
     * @param caller of the work
     */
    refuseNext: (req: Request, caller: string): void => {
      if (refusedCallers.size >= MAX_REFUSED_CALLERS) refusedCallers.clear()
      refusedCallers.set(sourceOf(req), caller)
    },
    /** Counts a request as one in progress no longer. */
    end: (res: ServerResponse): void => ends.get(res)?.(),
    /** The key for fairness between callers, before they are known: credentials, or the address. */
    queueKey,
    /** Counts a request against its caller's quota, or refuses it. */
    check,
    /** Undefined without a rate limit. */
    rate,
    quota,
    /** The number of requests that each limit has refused. */
    refused: () => ({ rate_limit: rate?.refused() ?? 0, overload }),
  }
}

/** The caller, if the request has valid credentials. */
export async function verifiedCaller(access: Access, req: Request): Promise<Caller | undefined> {
  if (credentials(req.headers) === undefined) return undefined
  try {
    const caller = await access.callerOf(req)
    // The session of a cookie may have ended.
    return caller === ANONYMOUS ? undefined : caller
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) return undefined
    throw error
  }
}
