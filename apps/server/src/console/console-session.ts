import type { Database } from '@resource/database'
import { ApiError } from '@resource/openapi'
import { type Request, Router } from 'express'
import type { Logger } from 'pino'
import type { Access } from '../access/access.ts'
import { SESSION_COOKIE } from '../access/authenticate.ts'
import { type Caller, unauthorized } from '../access/caller.ts'
import { cookieName, cookieOptions, usesHttps } from '../access/session-secret.ts'
import { addressOf } from '../http/address.ts'
import { onlyMethods } from '../http/allowed-methods.ts'
import { recordCaller, requestId } from '../http/request-log.ts'
import type { Config } from '../process/config.ts'
import { sessionWrites } from '../sessions/log-in.ts'
import { auditedTables } from '../store/audit-context.ts'
import { type StartSession, signIn } from './sign-in.ts'

interface Options {
  config: Config
  database: Database
  access: Access
  log: Logger
}

/**
 * The console's session at `/console/session`. GET returns the logged-in caller. POST with `Authorization: Bearer` starts a
 * session, whose secret is in an HttpOnly, SameSite=Strict cookie. DELETE ends it.
 */
export function consoleSession({ config, database, access, log }: Options): Router {
  const router = Router({ caseSensitive: true })
  const path = '/console/session'
  const behindProxy = config.TRUST_PROXY.length > 0
  const writes = sessionWrites(database, config, auditedTables({}))
  const changeBy = (req: Request, caller: Caller) => ({
    caller,
    requestId: requestId(req),
    address: addressOf(req, behindProxy),
  })
  const identify = async (req: Request, headers = req.headers) => {
    const caller = await access.callerOf(req, headers)
    recordCaller(req, caller)
    return caller
  }
  /** The session of the request's cookie, whatever else the request has; undefined if it has ended. */
  const currentOf = async (req: Request) => {
    const { cookie = '' } = req.headers
    try {
      const caller = await access.callerOf(req, { cookie })
      return caller.sessionId === undefined ? undefined : caller
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return undefined
      throw error
    }
  }
  const start: StartSession = async (req, res, caller, isHttps) => {
    const replaced = (await currentOf(req))?.sessionId
    const secret = await writes.start(changeBy(req, caller), req.headers['user-agent'], replaced)
    if (replaced !== undefined) access.invalidate()
    res.cookie(cookieName(SESSION_COOKIE, isHttps), secret, cookieOptions('strict', isHttps))
  }

  router.route(path).all(onlyMethods('GET, HEAD, POST, DELETE, OPTIONS'))
  router.get(path, async (req, res) => void res.json(present(await identify(req))))
  router.post(path, async (req, res) => {
    const { authorization } = req.headers
    // Without keys anyone is admitted, but there is nothing to log in with.
    if (authorization === undefined) throw unauthorized('Send Authorization: Bearer with an API key', 'no_credentials')
    const caller = await identify(req, { authorization })
    await start(req, res, caller, usesHttps(req))
    res.json(present(caller))
  })
  router.delete(path, async (req, res) => {
    const caller = await currentOf(req)
    if (caller !== undefined) {
      await writes.end(changeBy(req, caller))
      access.invalidate()
    }
    for (const isHttps of [true, false])
      res.clearCookie(cookieName(SESSION_COOKIE, isHttps), cookieOptions('strict', isHttps))
    res.status(204).end()
  })
  router.use(signIn(config, log, start))
  return router
}

/** The caller, with the label by which people know it. */
function present({ name, keyName, subject, role }: Caller) {
  return { name, label: keyName ?? subject ?? name, role }
}
