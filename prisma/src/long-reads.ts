import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'
import { Busy } from './errors.ts'
import { FairQueue } from './fair-queue.ts'
import type { Executor } from './tables/executor.ts'

// Bounds the queue: a read that has waited longer fails without reading.
const MAX_WAIT_MS = 5_000

/** Who reads, and who is told how long each long read took. */
interface Reader {
  caller: string
  onLong: (readMs: number) => void
}

const readers = new AsyncLocalStorage<Reader>()

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
 * share one place in it.
 *
 * @param onLong called at the end of each long read with the time that it took in ms
 */
export function readsOf<T>(caller: string, work: () => Promise<T>, onLong: (readMs: number) => void): Promise<T> {
  return readers.run({ caller, onLong }, work)
}

/** Runs long reads. Some places stay free for other callers, whatever one caller asks for. */
export class LongReads {
  readonly #max: number
  readonly #maxPerCaller: number
  readonly #running = new Map<string, number>()
  #total = 0
  readonly #waiting = new FairQueue<() => void>()

  /** @param max how many reads run at the same time */
  constructor(max: number, maxPerCaller: number) {
    this.#max = max
    this.#maxPerCaller = maxPerCaller
  }

  /** @throws Busy if the reads before this one take too long */
  async run<T>(read: () => Promise<T>): Promise<T> {
    const reader = readers.getStore()
    const { caller = '' } = reader ?? {}
    const sinceMs = performance.now()
    if (this.#mayRun(caller)) this.#begin(caller)
    else await new Promise<void>((resolve) => this.#waiting.add(caller, () => resolve(this.#begin(caller))))
    const startMs = performance.now()
    try {
      if (startMs - sinceMs > MAX_WAIT_MS) throw new Busy('The wait for other long reads timed out.')
      const result = await read().finally(() => reader?.onLong(performance.now() - startMs))
      lastResult = lastResult.then(pause)
      await lastResult
      return result
    } finally {
      this.#end(caller)
    }
  }

  #mayRun(caller: string): boolean {
    return this.#total < this.#max && (this.#running.get(caller) ?? 0) < this.#maxPerCaller
  }

  #begin(caller: string): void {
    this.#total++
    this.#running.set(caller, (this.#running.get(caller) ?? 0) + 1)
  }

  #end(caller: string): void {
    this.#total--
    const running = (this.#running.get(caller) ?? 0) - 1
    if (running === 0) this.#running.delete(caller)
    else this.#running.set(caller, running)
    this.#waiting.take((caller) => this.#mayRun(caller))?.()
  }
}

/** An executor whose long reads leave some of a server's connections to short ones, and most of the others to other callers. */
export function withLongReads(executor: Executor, connections: number): Executor {
  const reads = new LongReads(Math.max(1, connections - 2), Math.max(1, Math.floor(connections / 4)))
  const background: Executor['background'] = {
    all: (statement) => reads.run(async () => executor.all(statement)),
    raw: (statement) => reads.run(async () => executor.raw(statement)),
  }
  return { ...executor, background }
}
