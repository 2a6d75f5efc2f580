import type { NextFunction, Request, RequestHandler, Response } from 'express'

/** A check of a request. It throws, or rejects with, the error that refuses the request. */
export type Check = (req: Request, res: Response) => void | Promise<void>

/** Runs checks in order before a handler, in one Express layer: a layer costs as much as a small handler. */
export function checked(checks: readonly Check[], handle: RequestHandler): RequestHandler {
  const run = (from: number, req: Request, res: Response, next: NextFunction): ReturnType<RequestHandler> => {
    for (let at = from; at < checks.length; at++) {
      const checking = (checks[at] as Check)(req, res)
      if (checking !== undefined) return checking.then(() => run(at + 1, req, res, next))
    }
    return handle(req, res, next)
  }
  return (req, res, next) => run(0, req, res, next)
}
