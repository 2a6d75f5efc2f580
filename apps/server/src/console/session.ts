import type { IncomingHttpHeaders } from 'node:http'
import { type Request, Router } from 'express'
import { type Authenticate, SESSION_COOKIE } from '../access/authenticate.ts'
import type { Caller } from '../access/caller.ts'
import { only } from '../http/methods.ts'
import { noteCaller } from '../http/request-log.ts'

/**
 * The console's session, `/console/session`. GET tells who is logged in; POST with `Authorization: Bearer` puts the key
 * into a cookie that no script can read and no other site's request carries; DELETE forgets it.
 */
export function consoleSession(authenticate: Authenticate): Router {
  const router = Router({ caseSensitive: true })
  const path = '/console/session'
  const noted = async (req: Request, headers?: IncomingHttpHeaders) => {
    const caller = await authenticate(req, headers)
    noteCaller(req, caller)
    return caller
  }
  router.route(path).all(only('GET, HEAD, POST, DELETE, OPTIONS'))
  router.get(path, async (req, res) => void res.json(told(await noted(req))))
  router.post(path, async (req, res) => {
    const caller = await noted(req, { authorization: req.headers.authorization })
    const [, key = ''] = req.headers.authorization?.split(/ +/) ?? []
    const secure = req.headers.origin?.startsWith('https:') ?? false
    res.cookie(SESSION_COOKIE, key, { httpOnly: true, sameSite: 'strict', secure, path: '/' }).json(told(caller))
  })
  router.delete(path, (_req, res) => void res.clearCookie(SESSION_COOKIE, { path: '/' }).status(204).end())
  return router
}

function told({ name, role }: Caller) {
  return { name, role }
}
