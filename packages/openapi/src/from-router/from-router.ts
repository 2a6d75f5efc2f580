import type { AnyTRPCRouter } from '@trpc/server'
import type { Request as ExpressRequest, Response as ExpressResponse } from 'express'
import { generateOpenApiDocument, type OpenAPIObject, type OpenApiMeta } from 'trpc-openapi'
import { EXPRESS, type ExpressHandlers, toExpress } from '../express.ts'
import { FETCH, type FetchRequest, toFetch } from '../fetch.ts'
import { signalOf } from '../signal.ts'
import { coreOf, type RouterOptions } from './core.ts'

export type { OpenApiMeta, RouterOptions }

/** The arguments of `createContext` on Express, in addition to the request. */
interface ExpressReply {
  res: ExpressResponse
}

/** The arguments of `createContext` in the fetch handler, in addition to the request. */
interface FetchReply {
  /** Headers to send with the response. */
  resHeaders: Headers
}

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
  generateOpenApiDocument(router as never, { title: '', version: '', baseUrl: '/' })
  return {
    express: (options = {}) =>
      toExpress(
        coreOf<R, ExpressRequest, ExpressRequest, ExpressReply>(router, options, EXPRESS, {
          requestOf: (req) => req,
          urlOf: (req) => new URL(req.originalUrl, 'http://localhost'),
          signalOf,
          createdOf: ({ res }) => ({ res: res as ExpressResponse }),
          headersOf: () => undefined,
        }),
      ),
    fetch: ({ prefix, ...options } = {}) =>
      toFetch(
        coreOf<R, FetchRequest, Request, FetchReply>(router, options, FETCH, {
          requestOf: ({ request }) => request,
          urlOf: ({ request }) => new URL(request.url),
          signalOf: ({ request }) => request.signal,
          createdOf: () => ({ resHeaders: new Headers() }),
          headersOf: (created) => created?.resHeaders,
        }),
        prefix,
      ),
    document: (options) => generateOpenApiDocument(router as never, options),
  }
}
