import { TRPCError } from '@trpc/server'
import type { Request } from 'express'
import { ApiError } from './api-error.ts'

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

/** The ApiError 499 of a call that was given up because its caller has gone: no failure of the service. */
export function abortApiError(error: unknown, hasGone: boolean): ApiError | undefined {
  const { cause = error } = error instanceof TRPCError ? error : {}
  const isAbort = (cause as { name?: unknown } | undefined)?.name === 'AbortError'
  if (!isAbort || !hasGone) return undefined
  return new ApiError(499, 'The client closed the connection', { cause })
}
