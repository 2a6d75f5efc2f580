import type { AnyTRPCRouter } from '@trpc/server'
import type { Request as ExpressRequest, Response as ExpressResponse } from 'express'
import { generateOpenApiDocument, type OpenAPIObject, type OpenApiMeta } from 'trpc-openapi'
import { EXPRESS, toExpress } from '../express.ts'
import { FETCH, type FetchRequest, toFetch } from '../fetch.ts'
import { signalOf } from '../signal.ts'
import { coreOf, type RouterOptions } from './core.ts'

export type { OpenApiMeta, RouterOptions }

// The arguments of `createContext`, in addition to `info`.
type OnExpress = { req: ExpressRequest; res: ExpressResponse; resHeaders?: never }
type OnFetch = { req: Request; resHeaders: Headers }

export interface ServedRouter<R extends AnyTRPCRouter> {
  /** Creates Express handlers, like `expressHandlers`. */
  express: (options?: RouterOptions<R, ExpressRequest, OnExpress>) => ReturnType<typeof toExpress>
  /** Creates a function from `Request` to `Response`, like `fetchHandler`. @param options `prefix`: the path of the router */
  fetch: (options?: RouterOptions<R, Request, OnFetch> & { prefix?: `/${string}` }) => ReturnType<typeof toFetch>
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
    express: (options = {}) => toExpress(coreOf(router, options, ON_EXPRESS)),
    fetch: ({ prefix, ...options } = {}) => toFetch(coreOf(router, options, ON_FETCH), prefix),
    document: (options) => generateOpenApiDocument(described, options),
  }
}

const onExpress = (req: ExpressRequest): OnExpress => ({ req, res: req.res as ExpressResponse })
const onFetch = ({ request }: FetchRequest): OnFetch => ({ req: request, resHeaders: new Headers() })
const ON_EXPRESS = { ...EXPRESS, signalOf, argumentsOf: onExpress }
const ON_FETCH = { ...FETCH, signalOf: ({ request }: FetchRequest) => request.signal, argumentsOf: onFetch }
