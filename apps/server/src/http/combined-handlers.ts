import type { RequestHandler } from 'express'

/**
 * Combines handlers into one Express layer, because a layer costs as much as a small handler. Errors of every handler reach
 * Express, whether thrown, rejected or passed to `next`, even if earlier handlers do not return the promise of `next`.
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
    // Express would treat `next(undefined)` as success.
    const fail = (error: unknown) => next(error ?? new Error('A handler failed without an error'))
    step()
  }
}
