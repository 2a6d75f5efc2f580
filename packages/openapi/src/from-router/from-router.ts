import type { AnyTRPCRouter } from '@trpc/server'
import type { Request as ExpressRequest, Response as ExpressResponse } from 'express'
import { generateOpenApiDocument, type OpenAPIObject, type OpenApiMeta } from 'trpc-openapi'
import { EXPRESS, type ExpressHandlers, toExpress } from '../express.ts'
import { FETCH, type FetchRequest, toFetch } from '../fetch.ts'
import { coreOf, type Platform, type RouterOptions } from './core.ts'

export type { OpenApiMeta, RouterOptions }

// The arguments of `createContext`, in addition to the request.
type ExpressReply = { res: ExpressResponse; resHeaders?: never }
type FetchReply = { resHeaders: Headers }

export interface ServedRouter<R extends AnyTRPCRouter> {
  /** Creates Express handlers, like `expressHandlers`. */
  express: (options?: RouterOptions<R, ExpressRequest, ExpressReply>) => ExpressHandlers
  /**
   * Creates a function from `Request` to `Response`, like `fetchHandler`.
   *
   * @param options `prefix`: the path under which the router is served
   */
  fetch: (
    options?: RouterOptions<R, Request, FetchReply> & { prefix?: `/${string}` },
  ) => (request: Request) => Promise<Response>
  /** The OpenAPI document of the router, from trpc-openapi's generator. */
  document: (options: Parameters<typeof generateOpenApiDocument>[1]) => OpenAPIObject
}

/**
 * Serves a tRPC router whose procedures have trpc-openapi's `meta.openapi`, without changes to the router. The procedures
 * validate their input, as over tRPC. Errors have trpc-openapi's form `{ message, code, issues }`, in addition to the
 * fields of the router's error formatter.
 *
 * @throws TRPCError that names the procedure, if trpc-openapi's generator cannot describe the router
 */
export function fromRouter<R extends AnyTRPCRouter>(router: R): ServedRouter<R> {
  const described = router as never
  generateOpenApiDocument(described, { title: '', version: '', baseUrl: '/' })
  return {
    express: (options = {}) =>
      toExpress(coreOf<R, ExpressRequest, ExpressRequest, ExpressReply>(router, options, ON_EXPRESS)),
    fetch: ({ prefix, ...options } = {}) =>
      toFetch(coreOf<R, FetchRequest, Request, FetchReply>(router, options, ON_FETCH), prefix),
    document: (options) => generateOpenApiDocument(described, options),
  }
}

const ON_EXPRESS: Platform<ExpressRequest, ExpressRequest, ExpressReply> = {
  ...EXPRESS,
  argumentsOf: (req) => ({ req, res: req.res as ExpressResponse }),
}

const ON_FETCH: Platform<FetchRequest, Request, FetchReply> = {
  ...FETCH,
  argumentsOf: ({ request }) => ({ req: request, resHeaders: new Headers() }),
}
