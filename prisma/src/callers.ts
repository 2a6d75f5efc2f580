import { AsyncLocalStorage } from 'node:async_hooks'

/** On whose behalf the database works. */
export interface DatabaseCaller {
  /** The key for fairness between callers. It is read only when work waits. */
  readonly name: string
  /** Called at the end of each long read with the time that it took in ms. */
  onLong(readMs: number): void
  /** Called when work fails because too much of the caller waits. */
  onRefused(): void
}

const callers = new AsyncLocalStorage<DatabaseCaller>()
const NOBODY: DatabaseCaller = { name: 'nobody', onLong: () => {}, onRefused: () => {} }

/**
 * Runs work on behalf of a caller. What waits for the database waits in queues that are fair between callers; work outside of
 * this function is that of one caller.
 */
export const workOf: <T>(caller: DatabaseCaller, work: () => Promise<T>) => Promise<T> = callers.run.bind(callers)

/** The caller on whose behalf the current work runs. */
export function currentCaller(): DatabaseCaller {
  return callers.getStore() ?? NOBODY
}
