import type { IncomingMessage } from 'node:http'
import type { Database } from '@resource/database'
import { ApiError } from '@resource/openapi'
import type { Request, RequestHandler } from 'express'
import type { Logger } from 'pino'
import type { Access } from '../access/access.ts'
import { hasCredentials } from '../access/authenticate.ts'
import type { Caller } from '../access/caller.ts'
import { HEALTH, WATCHED } from '../http/health.ts'
import type { Config } from '../process/config.ts'
import { createLoadGuard } from './load.ts'
import { Quota } from './quota.ts'
import { createRateLimit } from './rate.ts'

/** What keeps callers from taking more than their share, and all of them from taking more than there is. */
export type Limits = ReturnType<typeof createLimits>

const REQUESTS_A_MINUTE = 6_000

/**
 * The limits that the settings name.
 *
 * @param access tells apart callers that are counted from those that are not
 * @param countOpen how many requests are under way, without the one that is asked for
 * @param database asked whether it has time
 * @param log told how many were refused for overload
 */
export function createLimits(config: Config, access: Access, countOpen: () => number, database: Database, log: Logger) {
  const load = createLoadGuard(config, countOpen, database, log)
  const limit = config.RATE_LIMIT ?? REQUESTS_A_MINUTE
  const quota = limit === 0 ? undefined : new Quota(limit)
  const rate = quota && createRateLimit(quota, config.TRUST_PROXY.length > 0)
  // Who has the machine, and the service, for themselves is not counted unless the settings say so.
  const isFree = config.RATE_LIMIT === undefined ? access.isPrivate : () => false
  const handle: RequestHandler = (req, _res, next) => {
    if (rate === undefined || HEALTH.has(req.url)) return next()
    const settle = (isFree: boolean) => {
      if (isFree || rate.count(req)) return next()
      return verifiedCaller(access, req)
        .then((caller) => rate.countCaller(req, caller))
        .then(() => next(), next)
    }
    const free = isFree(req)
    return free instanceof Promise ? free.then(settle, next) : settle(free)
  }
  return {
    /** Whether there is no time for a request, which is asked once for each. */
    isTooMuch: ({ url = '' }: IncomingMessage) => !WATCHED.has(url) && load.refuses(),
    /** Counts a request against its caller's quota, or refuses it: mount it before what answers. */
    handle,
    /** Absent where callers are not counted. */
    rate,
    quota,
    /** How many requests each has refused. */
    refused: () => ({ rate_limit: rate?.refused() ?? 0, overload: load.refused() }),
    close: load.close,
  }
}

/** Who calls by credentials that hold; undefined for everybody else. */
export async function verifiedCaller(access: Access, req: Request): Promise<Caller | undefined> {
  if (!hasCredentials(req.headers)) return undefined
  try {
    return await access.callerOf(req)
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) return undefined
    throw error
  }
}
