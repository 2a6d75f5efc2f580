import { inspect } from 'node:util'

/** The return type of a hook: a value, which needs no await, or a promise. */
export type Awaitable<T> = T | PromiseLike<T>

/** Whether `value` must be awaited. */
export function isPromise<T>(value: Awaitable<T>): value is PromiseLike<T> {
  return typeof (value as PromiseLike<T> | undefined)?.then === 'function'
}

/**
 * Runs a hook that only observes. Its failure must not change the result, so it becomes a process warning.
 *
 * @returns a promise that never rejects, if the hook returned one
 */
export function observe(hook: () => Awaitable<void>): undefined | Promise<void> {
  try {
    const observing = hook()
    return isPromise(observing) ? Promise.resolve(observing).catch(warn) : undefined
  } catch (error) {
    warn(error)
    return undefined
  }
}

function warn(error: unknown): void {
  process.emitWarning(`onError failed: ${inspect(error)}`)
}
