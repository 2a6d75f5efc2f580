import type { IncomingHttpHeaders } from 'node:http'
import { type Request, Router } from 'express'
import { type Authenticate, SESSION_COOKIE } from '../access/authenticate.ts'
import { type Caller, unauthorized } from '../access/caller.ts'
import { onlyMethods } from '../http/allowed-methods.ts'
import { recordCaller } from '../http/request-log.ts'

/**
 * The console's session at `/console/session`. GET returns the logged-in caller. POST with `Authorization: Bearer` stores
 * the key in an HttpOnly, SameSite=Strict cookie. DELETE clears the cookie.
 */
export function consoleSession(authenticate: Authenticate): Router {
  const router = Router({ caseSensitive: true })
  const path = '/console/session'
  const identify = async (req: Request, headers?: IncomingHttpHeaders) => {
    const caller = await authenticate(req, headers)
    recordCaller(req, caller)
    return caller
  }
  router.route(path).all(onlyMethods('GET, HEAD, POST, DELETE, OPTIONS'))
  router.get(path, async (req, res) => void res.json(present(await identify(req))))
  router.post(path, async (req, res) => {
    const { authorization } = req.headers
    // Without keys anyone is admitted, but there is nothing to store.
    if (authorization === undefined) throw unauthorized('Send Authorization: Bearer with an API key', 'no_credentials')
    const caller = await identify(req, { authorization })
    const [, key = ''] = authorization.split(/ +/)
    const secure = req.headers.origin?.startsWith('https:') ?? false
    res.cookie(SESSION_COOKIE, key, { httpOnly: true, sameSite: 'strict', secure, path: '/' }).json(present(caller))
  })
  router.delete(path, (_req, res) => void res.clearCookie(SESSION_COOKIE, { path: '/' }).status(204).end())
  return router
}

function present({ name, role }: Caller) {
  return { name, role }
}
