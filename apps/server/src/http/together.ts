import type { RequestHandler } from 'express'

/**
 * Handlers as one layer of Express: a layer costs what a small handler does. What one of them throws, or rejects with, is
 * the layer's error.
 */
export function together(...handlers: RequestHandler[]): RequestHandler {
  return (req, res, next) => {
    let at = 0
    const step = (error?: unknown): unknown => {
      if (error !== undefined) return next(error)
      const handler = handlers[at++]
      return handler === undefined ? next() : handler(req, res, step)
    }
    return step()
  }
}
