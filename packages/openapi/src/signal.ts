import { TRPCError } from '@trpc/server'
import type { Request } from 'express'
import { ApiError } from './api-error.ts'

const signals = new WeakMap<Request, AbortSignal>()

/**
 * A signal that aborts if the client disconnects before the response is complete. It is created on first use and shared
 * by all calls of a request. `context` passes it to the implementations:
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

/** Whether the client has disconnected. */
export function hasDisconnected({ res }: Request): boolean {
  return res?.closed === true && !res.writableFinished
}

/** The 499 for a call that was aborted because its client disconnected. It is not a failure of the service. */
export function abortApiError(error: unknown, hasDisconnected: boolean): ApiError | undefined {
  const { cause = error } = error instanceof TRPCError ? error : {}
  const isAbort = (cause as { name?: unknown } | undefined)?.name === 'AbortError'
  if (!isAbort || !hasDisconnected) return undefined
  return new ApiError(499, 'The client closed the connection', { cause })
}
