import { ApiError } from '@resource/openapi'
import { type Request, type Response, Router } from 'express'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { Caller } from '../access/caller.ts'
import { createCodeFlow, SignInFailure } from '../access/code-flow.ts'
import { cookieName, cookieOptions, readCookie } from '../access/session-secret.ts'
import { onlyMethods, readRoute } from '../http/allowed-methods.ts'
import { isLoopback } from '../http/loopback.ts'
import { recordCaller } from '../http/request-log.ts'
import { sampledLog } from '../http/sampled-log.ts'
import type { Config } from '../process/config.ts'

/** Starts a session for a caller, in the cookie of the response. */
export type StartSession = (req: Request, res: Response, caller: Caller, isHttps: boolean) => Promise<void>

const PATH = '/console/sign-in'
const CALLBACK = `${PATH}/callback`
const HOME = '/console'
const COOKIE = 'sign-in'
const ATTEMPT_MS = 10 * 60_000
// The cookie must not exceed 4 KB.
const MAX_PATH = 1_000

const attemptIn = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), to: z.string() })

/**
 * Signing in at the identity provider, if `OIDC_CLIENT_ID` is set: `/console/sign-in` leads there, and the provider leads
 * back to `/console/sign-in/callback`. `/console/sign-in/options` has what the login form shows.
 */
export function signIn(config: Config, log: Logger, start: StartSession): Router {
  const router = Router({ caseSensitive: true })
  const { OIDC_ISSUER, OIDC_CLIENT_ID, SESSION_IDLE_MINUTES } = config
  const isConfigured = OIDC_ISSUER !== undefined && OIDC_CLIENT_ID !== undefined
  const provider = isConfigured ? new URL(OIDC_ISSUER).host : null
  readRoute(router, `${PATH}/options`, (_req, res) => void res.json({ provider, idle_minutes: SESSION_IDLE_MINUTES }))
  if (!isConfigured) return router

  const flow = createCodeFlow(OIDC_ISSUER, OIDC_CLIENT_ID, config)
  const logFailure = sampledLog(log, 'warn', 60_000, 'sign-ins failed')
  const fail = (res: Response, error: unknown) => {
    const isUnavailable = error instanceof ApiError && error.status === 503
    if (!(error instanceof SignInFailure || isUnavailable)) throw error
    const { message } = error
    const reason = error instanceof SignInFailure ? error.reason : 'unavailable'
    logFailure(reason, { reason }, { reason, message }, 'sign-in failed')
    res.redirect(303, `${HOME}?sign_in=${reason}`)
  }

  router.route(PATH).all(onlyMethods('GET, HEAD, OPTIONS'))
  router.route(CALLBACK).all(onlyMethods('GET, OPTIONS'))
  router.get(PATH, async (req, res) => {
    try {
      const origin = originOf(req, config)
      const { url, attempt } = await flow.begin(origin + CALLBACK)
      const value = Buffer.from(JSON.stringify({ ...attempt, to: ownPath(req.query.to) })).toString('base64url')
      const isHttps = origin.startsWith('https:')
      // Lax, because the provider leads back from another site.
      res.cookie(cookieName(COOKIE, isHttps), value, { ...cookieOptions('lax', isHttps), maxAge: ATTEMPT_MS })
      res.redirect(303, url.href)
    } catch (error) {
      fail(res, error)
    }
  })
  router.get(CALLBACK, async (req, res) => {
    try {
      const origin = originOf(req, config)
      const isHttps = origin.startsWith('https:')
      const attempt = readAttempt(readCookie(req.headers, COOKIE, isHttps))
      // An attempt ends with its first answer, whatever that is.
      res.clearCookie(cookieName(COOKIE, isHttps), cookieOptions('lax', isHttps))
      if (attempt === undefined) throw new SignInFailure('attempt', 'the browser sent no attempt')
      if (req.query.state !== attempt.state) throw new SignInFailure('attempt', 'the state is of another attempt')
      const caller = await flow.finish(new URL(origin + req.originalUrl), attempt)
      recordCaller(req, caller)
      await start(req, res, caller, isHttps)
      res.redirect(303, ownPath(attempt.to))
    } catch (error) {
      fail(res, error)
    }
  })
  return router
}

/** The origin of the service as browsers see it. @throws SignInFailure for a host that is not known to be the service's */
function originOf(req: Request, { PUBLIC_ORIGIN, ALLOWED_HOSTS }: Config): string {
  if (PUBLIC_ORIGIN !== undefined) return PUBLIC_ORIGIN
  const { protocol, headers } = req
  const { host, hostname } = new URL(`${protocol}://${headers.host}`)
  if (isLoopback(hostname) || ALLOWED_HOSTS.includes(hostname)) return `${protocol}://${host}`
  throw new SignInFailure('host', `${hostname} is not one of ALLOWED_HOSTS, and PUBLIC_ORIGIN is not set`)
}

/** A path of the console; its overview for anything else, so that nobody is led to another site. */
function ownPath(to: unknown): string {
  const base = 'http://console'
  if (typeof to !== 'string' || to.length > MAX_PATH || !URL.canParse(to, base)) return HOME
  const { origin, pathname, search } = new URL(to, base)
  return origin === base && /^\/console(?:\/|$)/.test(pathname) ? pathname + search : HOME
}

function readAttempt(cookie: string | undefined) {
  try {
    return attemptIn.parse(JSON.parse(Buffer.from(cookie ?? '', 'base64url').toString()))
  } catch {
    return undefined
  }
}
