import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'
import { Slots } from './slots.ts'
import type { Executor } from './tables/executor.ts'

// Bounds the queue.
const MAX_WAIT_MS = 5_000

/** Who reads, and who is told how long each long read took. */
interface Reader {
  caller: string
  onLong: (readMs: number) => void
}

const readers = new AsyncLocalStorage<Reader>()
const NOBODY: Reader = { caller: 'nobody', onLong: () => {} }

// What follows a long read, such as the text of a large page, may take tens of milliseconds. A turn of the event loop accepts
// one connection, so some turns without such work come first; under load, when turns are long, no more than in this time.
const TURNS_BEFORE_RESULT = 20
const MAX_PAUSE_MS = 10

/** Resolves when the latest result may be used. */
let lastResult: Promise<void> = Promise.resolve()

async function pause() {
  const endMs = performance.now() + MAX_PAUSE_MS
  for (let turn = 0; turn < TURNS_BEFORE_RESULT && performance.now() < endMs; turn++) await setImmediate()
}

/**
 * Runs work on behalf of a caller. Its long reads wait in a queue that is fair between callers; reads outside of such work
 * are those of one caller.
 *
 * @param onLong called at the end of each long read with the time that it took in ms
 */
export function readsOf<T>(caller: string, work: () => Promise<T>, onLong: (readMs: number) => void): Promise<T> {
  return readers.run({ caller, onLong }, work)
}

/**
 * Returns a function that runs long reads: so many at the same time, and fewer of one caller, so that others are served.
 *
 * @throws Busy if the reads before this one take too long
 */
export function longReads(max: number, maxPerCaller: number): <T>(read: () => Promise<T>) => Promise<T> {
  const slots = new Slots(max, { maxPerCaller, maxWaitMs: MAX_WAIT_MS, what: 'long reads' })
  return (read) => {
    const { caller, onLong } = readers.getStore() ?? NOBODY
    return slots.run(async () => {
      const startMs = performance.now()
      const result = await read().finally(() => onLong(performance.now() - startMs))
      lastResult = lastResult.then(pause)
      await lastResult
      return result
    }, caller)
  }
}

/** An executor whose long reads leave some of a server's connections to short ones, and most of the others to other callers. */
export function withLongReads(executor: Executor, connections: number): Executor {
  const run = longReads(Math.max(1, connections - 2), Math.max(1, Math.floor(connections / 4)))
  const background: Executor['background'] = {
    all: (statement) => run(async () => executor.all(statement)),
    raw: (statement) => run(async () => executor.raw(statement)),
  }
  return { ...executor, background }
}
