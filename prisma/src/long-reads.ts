import { setImmediate } from 'node:timers/promises'
import { currentCaller } from './callers.ts'
import { Busy } from './errors.ts'
import { Slots } from './slots.ts'
import type { Executor } from './tables/executor.ts'
import { WaitLimit } from './wait-limit.ts'

// Bounds the queue.
const MAX_WAIT_MS = 5_000

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

/** Runs long reads: so many at the same time, and fewer of one caller, so that others are served. */
export class LongReads {
  readonly #slots: Slots
  /** Of the callers whose reads wait. */
  readonly #waits = new Map<string, WaitLimit>()

  constructor(max: number, maxPerCaller: number) {
    this.#slots = new Slots(max, { maxPerCaller, maxWaitMs: MAX_WAIT_MS, what: 'long reads' })
  }

  /** @throws Busy if the reads before this one take too long, or if too many of its caller wait */
  async run<T>(read: () => Promise<T>): Promise<T> {
    const reader = currentCaller()
    const caller = reader.name
    if (this.isOverloaded(caller)) {
      reader.onRefused()
      throw new Busy('Too many long reads are waiting.')
    }
    const turn = this.#slots.acquire(caller)
    if (turn !== undefined) await this.#wait(caller, turn)
    try {
      const startMs = performance.now()
      const result = await read().finally(() => reader.onLong(performance.now() - startMs))
      lastResult = lastResult.then(pause)
      await lastResult
      return result
    } finally {
      this.#slots.release(caller)
    }
  }

  /** Whether the wait of a caller's next long read would be too long. */
  isOverloaded(caller: string): boolean {
    return this.#waits.get(caller)?.isOverloaded() ?? false
  }

  async #wait(caller: string, turn: Promise<void>): Promise<void> {
    const waits = this.#waits.get(caller) ?? new WaitLimit()
    this.#waits.set(caller, waits)
    const wait = waits.begin()
    let isServed = false
    try {
      await turn
      isServed = true
    } finally {
      waits.end(wait, isServed)
      if (waits.isEmpty) this.#waits.delete(caller)
    }
  }
}

/** The long reads of a server with this many connections: they leave some to short reads, and most of the others to other callers. */
export function longReadsOf(connections: number): LongReads {
  return new LongReads(Math.max(1, connections - 2), Math.max(1, Math.floor(connections / 4)))
}

/** The background of an executor, for long reads. */
export function backgroundOf(executor: Executor, reads: LongReads): Executor['background'] {
  return {
    all: (statement) => reads.run(async () => executor.all(statement)),
    raw: (statement) => reads.run(async () => executor.raw(statement)),
  }
}
