import type { IncomingHttpHeaders } from 'node:http'
import { API_VERSION, contract, envelope } from '@resource/contract'
import type { Database, Tables } from '@resource/database'
import { Problem, rest, trpc } from '@resource/openapi'
import type { TRPCError } from '@trpc/server'
import express, { type ErrorRequestHandler, type Express, type Request } from 'express'
import type { Logger } from 'pino'
import type { Access } from '../access/access.ts'
import type { Config } from '../config.ts'
import { consolePages } from '../console/console.ts'
import { consoleSession } from '../console/session.ts'
import type { Context } from '../context.ts'
import { createDocument } from '../document.ts'
import { createOperations } from '../operations.ts'
import { pages } from '../pages/pages.ts'
import { commonHeaders, setCommonHeaders } from './headers.ts'
import { health } from './health.ts'
import { checkHost } from './host.ts'
import { offer, only } from './offer.ts'
import { allowOrigins, checkOrigin } from './origin.ts'
import { hasWritten, markWriters } from './own-writes.ts'
import { requestId, requestLog } from './request-log.ts'
import { skewLog } from './skew.ts'

const TRPC_BODY_LIMIT = 4 * 1024 * 1024
// A short request must not ask for an unbounded answer. The client sends no more at once.
const MOST_CALLS_IN_BATCH = 50

export interface AppOptions {
  config: Config
  database: Database
  access: Access
  log: Logger
  /** Whether the service has begun to stop. */
  isStopping: () => boolean
}

/** The whole service as an Express application. */
export function createApp({ config, database, access, log, isStopping }: AppOptions): Express {
  const operations = createOperations(database, config)
  const document = createDocument()
  const tell = (error: Problem | TRPCError, req: Request) => {
    const id = requestId(req)
    if (error.code === 'INTERNAL_SERVER_ERROR') log.error({ id, err: error.cause ?? error }, 'unexpected error')
    if (error.code === 'SERVICE_UNAVAILABLE') log.warn({ id, err: error.cause ?? error }, 'unavailable')
  }
  const readsOf = (req: Request) => (hasWritten(req) ? database.read : database.recent())
  const { handle, refuse, fail } = rest<Context>(contract, operations, {
    envelope,
    context: (req) => contextOf(req, access, readsOf(req)),
    requestId,
    headers: commonHeaders,
    onError: tell,
  })
  const { plain, complete } = trpc<Context>(operations, {
    context: (req, calls) => contextOf(req, access, readsOf(req), headersOfCall(req, calls)),
    headers: commonHeaders,
    onError: tell,
    bodyLimit: TRPC_BODY_LIMIT,
    mostCalls: MOST_CALLS_IN_BATCH,
  })

  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('case sensitive routing')
  app.use(requestLog(log))
  app.use(checkHost(access.isPrivate))
  app.use(checkOrigin(config.CORS_ORIGINS))
  if (config.CORS_ORIGINS.length > 0) app.use(allowOrigins(config.CORS_ORIGINS))
  if (config.DATABASE_REPLICA_URLS.length > 0) app.use(markWriters(config.DATABASE_REPLICA_LAG_MS))
  // Few layers before what is asked for most.
  app.use(handle)
  app.use('/trpc', skewLog(log), plain)
  app.use(setCommonHeaders)
  // tRPC makes a Request of the fetch standard, which cannot be made with each method.
  app.use('/trpc', only('GET, HEAD, POST, OPTIONS'), complete)
  app.use(health(database, isStopping))
  const documentText = JSON.stringify(document)
  offer(app, '/openapi.json', (_req, res) => void res.type('json').send(documentText))
  app.use(consoleSession(access.callerOf))
  app.use(consolePages())
  app.use(pages({ title: document.info.title, version: API_VERSION }))
  app.use(refuse)
  const onUncaught: ErrorRequestHandler = (error, req, res, _next) => fail(error, req, res)
  app.use(onUncaught)
  return app
}

function contextOf(
  req: Request,
  { callerOf }: Access,
  read: Tables,
  headers?: IncomingHttpHeaders,
): Context | Promise<Context> {
  const caller = callerOf(req.headers)
  if (caller instanceof Promise) return caller.then((caller) => ({ caller, requestId: requestId(req), headers, read }))
  return { caller, requestId: requestId(req), headers, read }
}

function headersOfCall({ headers }: Request, calls: number): IncomingHttpHeaders | undefined {
  if (calls === 1) return headers
  // The header belongs to the request; of several calls in one it could mean any, and to drop it would be a lie.
  if (headers['idempotency-key'] !== undefined) {
    throw new Problem(400, 'Idempotency-Key belongs to a single call; in a batch each call takes idempotency_key')
  }
  return undefined
}
