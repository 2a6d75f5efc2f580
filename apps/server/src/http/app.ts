import { API_VERSION, contract, envelope } from '@resource/contract'
import type { Database } from '@resource/database'
import { Problem, rest, trpcRouter } from '@resource/openapi'
import { createExpressMiddleware } from '@trpc/server/adapters/express'
import express, { type ErrorRequestHandler, type Express, type Request } from 'express'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { createDocument } from '../document.ts'
import { createOperations } from '../operations.ts'
import { pages } from '../pages/pages.ts'
import { health } from './health.ts'
import { checkHost } from './host.ts'
import { offer, only } from './offer.ts'
import { requestId, requestLog } from './request-log.ts'

const TRPC_BODY_LIMIT = 4 * 1024 * 1024

export interface AppOptions {
  config: Config
  database: Database
  log: Logger
  /** Whether the service has begun to stop. */
  isStopping: () => boolean
}

/** The whole service as an Express application. */
export function createApp({ config, database, log, isStopping }: AppOptions): Express {
  const operations = createOperations(database, config)
  const document = createDocument()
  const onError = (problem: Problem, req: Request) => {
    if (problem.status === 500) log.error({ id: requestId(req), err: problem.cause }, 'unexpected error')
  }
  const { handle, fail } = rest<Context>(contract, operations, {
    envelope,
    context: (req) => ({ requestId: requestId(req) }),
    requestId,
    onError,
  })

  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('case sensitive routing')
  app.use(requestLog(log))
  app.use(checkHost)
  app.use(
    '/trpc',
    // tRPC makes a Request of the fetch standard, which cannot be made with each method.
    only('GET, HEAD, POST, OPTIONS'),
    createExpressMiddleware({
      router: trpcRouter(operations),
      maxBodySize: TRPC_BODY_LIMIT,
      createContext: ({ req, info }): Context => ({
        requestId: requestId(req),
        // A header belongs to the request; of several calls in one it could mean any.
        ...(info.calls.length === 1 && { headers: req.headers }),
      }),
      // Of a Problem: when to try again.
      responseMeta: ({ errors }) => ({ headers: Object.assign({}, ...errors.map(headersOf)) }),
      onError: ({ error, req }) => {
        if (error.code === 'INTERNAL_SERVER_ERROR') {
          log.error({ id: requestId(req), err: error.cause ?? error }, 'unexpected error')
        }
      },
    }),
  )
  app.use(health(database, isStopping))
  const documentText = JSON.stringify(document)
  offer(app, '/openapi.json', (_req, res) => void res.type('json').send(documentText))
  app.use(pages({ title: document.info.title, version: API_VERSION }))
  app.use(handle)
  const onUncaught: ErrorRequestHandler = (error, req, res, _next) => fail(error, req, res)
  app.use(onUncaught)
  return app
}

function headersOf(error: unknown): Record<string, string> {
  return error instanceof Problem ? error.headers : {}
}
