import type { RequestHandler } from 'express'

/**
 * Handlers as one layer of Express: a layer costs what a small handler does. Every handler is awaited, whether or not the
 * handlers before it return what follows them. What one of them throws, rejects with or passes on is the layer's error.
 */
export function compose(...handlers: RequestHandler[]): RequestHandler {
  return (req, res, next) => {
    let at = 0
    const step = (error?: unknown): void => {
      const handler = error === undefined ? handlers[at++] : undefined
      if (handler === undefined) {
        next(error)
        return
      }
      try {
        const done: unknown = handler(req, res, step)
        if (done instanceof Promise) done.catch(fail)
      } catch (error) {
        fail(error)
      }
    }
    // To Express, no error is none.
    const fail = (error: unknown) => next(error ?? new Error('A handler failed without an error'))
    step()
  }
}
