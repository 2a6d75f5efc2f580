import { inspect } from 'node:util'

/** What a hook may return: a value at hand, which costs no wait, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>

/** Whether `value` has to be awaited. */
export function isPromise<T>(value: Awaitable<T>): value is PromiseLike<T> {
  return typeof (value as PromiseLike<T> | undefined)?.then === 'function'
}

/**
 * Runs a hook that only observes. Its failure must not change what it observes, so it becomes a warning of the process.
 *
 * @returns a promise, which never rejects, where the hook returned one
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
