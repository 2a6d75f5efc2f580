import { Busy } from './errors.ts'
import { FairQueue } from './fair-queue.ts'

// Consecutive work without a pause starves the event loop, so no request is read. After this time it yields to it.
const MAX_RUN_MS = 2

// Work that takes longer uses several turns.
const TURN_MS = 10

interface Options {
  /** How long work waits for a slot, in ms. */
  maxWaitMs: number
  /** How many may wait; any number by default. Beyond it, the newest work of the caller with the most fails. */
  maxWaiting?: number
  /** How many slots the work of one caller may have; all by default, and for work without a caller. */
  maxPerCaller?: number
  /** Names the work in errors; default `writes`. */
  what?: string
}

/** The turn of work that waits. */
interface Turn {
  begin: () => void
  reject: (error: Error) => void
}

/**
 * Slots for work that runs at the same time. Work beyond their number waits; callers take turns, each in FIFO order, and one whose
 * work took longer has fewer.
 */
export class Slots {
  readonly #options: Options
  #free: number
  readonly #waiting = new FairQueue<Turn>()
  /** The slots of each caller, if their number is limited. */
  readonly #ofCallers: Map<string, number> | undefined
  /** Start of the current run of work without a pause. */
  #runStartMs = 0

  constructor(count: number, options: Options) {
    this.#free = count
    this.#options = options
    this.#ofCallers = options.maxPerCaller === undefined ? undefined : new Map()
  }

  get waiting(): number {
    return this.#waiting.size
  }

  get free(): number {
    return this.#free
  }

  /**
   * Acquires a slot, which {@link release} releases.
   *
   * @param caller whose turn it takes if it waits
   * @param timeoutMs may be infinite
   * @param isFirst whether it goes before the caller's other work, however many wait
   * @returns undefined if a slot was free
   * @throws Busy on timeout, or if too many wait
   */
  acquire(caller = '', timeoutMs = this.#options.maxWaitMs, isFirst = false): Promise<void> | undefined {
    if (this.#free === 0 || !this.#mayRun(caller)) return this.#wait(caller, timeoutMs, isFirst)
    this.#free--
    this.#count(caller, 1)
    this.#runStartMs = performance.now()
    return undefined
  }

  /**
   * @param caller that acquired the slot
   * @param usedMs for how long, which counts as several turns of the caller if it is longer than {@link TURN_MS}
   */
  release(caller = '', usedMs = 0): void {
    this.#count(caller, -1)
    if (caller !== '') this.#waiting.charge(caller, Math.floor(usedMs / TURN_MS))
    if (this.#waiting.size > 0 && performance.now() - this.#runStartMs > MAX_RUN_MS) {
      setImmediate(() => {
        this.#runStartMs = performance.now()
        this.#handOver()
      })
    } else this.#handOver()
  }

  /** @throws Busy as {@link acquire} does */
  async run<T>(work: () => Promise<T>, caller?: string): Promise<T> {
    const turn = this.acquire(caller)
    if (turn !== undefined) await turn
    const beginMs = performance.now()
    try {
      return await work()
    } finally {
      this.release(caller, performance.now() - beginMs)
    }
  }

  /** Rejects all work that waits. */
  rejectAll(error: Error): void {
    for (let next = this.#waiting.take(); next !== undefined; next = this.#waiting.take()) next.reject(error)
  }

  #handOver(): void {
    const next = this.#waiting.take(this.#mayRun)
    if (next === undefined) this.#free++
    else next.begin()
  }

  readonly #mayRun = (caller: string): boolean =>
    caller === '' ||
    this.#ofCallers === undefined ||
    (this.#ofCallers.get(caller) ?? 0) < (this.#options.maxPerCaller as number)

  #count(caller: string, added: number): void {
    if (this.#ofCallers === undefined) return
    const count = (this.#ofCallers.get(caller) ?? 0) + added
    if (count === 0) this.#ofCallers.delete(caller)
    else this.#ofCallers.set(caller, count)
  }

  #wait(caller: string, timeoutMs: number, isFirst: boolean): Promise<void> {
    const { maxWaiting = Number.POSITIVE_INFINITY, what = 'writes' } = this.#options
    return new Promise((resolve, reject) => {
      const expire = () => {
        this.#waiting.remove(caller, turn)
        reject(new Busy(`The wait for other ${what} timed out.`))
      }
      const timer = Number.isFinite(timeoutMs) ? setTimeout(expire, timeoutMs) : undefined
      const ended = (settle: () => void) => {
        clearTimeout(timer)
        settle()
      }
      const begin = () => {
        this.#count(caller, 1)
        resolve()
      }
      const turn: Turn = { begin: () => ended(begin), reject: (error) => ended(() => reject(error)) }
      this.#waiting.add(caller, turn, isFirst)
      if (!isFirst && this.#waiting.size > maxWaiting)
        this.#waiting.drop()?.reject(new Busy(`Too many ${what} are waiting.`))
    })
  }
}
