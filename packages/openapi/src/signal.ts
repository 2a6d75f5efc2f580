import { TRPCError } from '@trpc/server'
import type { Request } from 'express'
import { Problem } from './problem.ts'

const signals = new WeakMap<Request, AbortSignal>()

/**
 * A signal that aborts when the client's connection ends before the answer is complete. It is made when first asked for,
 * and is one for all calls of a request; `context` hands it to the implementations:
 * `context: (req) => ({ get signal() { return signalOf(req) } })`.
 */
export function signalOf(req: Request): AbortSignal {
  const known = signals.get(req)
  if (known !== undefined) return known
  const controller = new AbortController()
  signals.set(req, controller.signal)
  const { res } = req
  const end = () => {
    if (!res?.writableFinished) controller.abort()
  }
  if (res?.closed) end()
  else res?.once('close', end)
  return controller.signal
}

/** Whether the client has gone, where a signal was asked for. */
export function hasGone(req: Request): boolean {
  return signals.get(req)?.aborted ?? false
}

/** The Problem 499 of a call that was given up because its caller has gone: no failure of the service. */
export function abortProblem(error: unknown, hasGone: boolean): Problem | undefined {
  const { cause = error } = error instanceof TRPCError ? error : {}
  const isAbort = (cause as { name?: unknown } | undefined)?.name === 'AbortError'
  if (!isAbort || !hasGone) return undefined
  return new Problem(499, 'The client closed the connection', { cause })
}
