import { Busy } from './errors.ts'
import { FairQueue } from './fair-queue.ts'
import type { QueueNode } from './linked-queue.ts'
import { WaitLimit } from './wait-limit.ts'

// Consecutive work without a pause starves the event loop, so no request is read. After this time it yields to it.
const MAX_RUN_MS = 2

// Work that takes longer uses several turns.
const TURN_MS = 10

interface Options {
  /** How long work waits for a slot, in ms. */
  maxWaitMs: number
  /** How many may wait; any number by default. Beyond it, the newest work of the caller with the most fails. */
  maxWaiting?: number
  /** Whether new work fails while the wait is too long, unless another caller has more that waits; default false. */
  limitsWait?: boolean
  /** Whether the work waits for a server instead of blocking the event loop; default false. */
  isRemote?: boolean
  /** How many slots the work of one caller may have; all by default, and for work without a caller. */
  maxPerCaller?: number
  /** Names the work in errors; default `writes`. */
  what?: string
}

/** The turn of work that waits. */
interface Turn {
  caller: string
  resolve: () => void
  reject: (error: Error) => void
  timer: NodeJS.Timeout | undefined
  wait: QueueNode<number> | undefined
}

/**
 * Slots for work that runs at the same time. Work beyond their number waits; callers take turns, each in FIFO order, and one whose
 * work took longer has fewer.
 */
export class Slots {
  readonly #options: Options
  #free: number
  readonly #waiting = new FairQueue<Turn>()
  readonly #limit: WaitLimit | undefined
  /** The slots of each caller, if their number is limited. */
  readonly #ofCallers: Map<string, number> | undefined
  /** Start of the current run of work without a pause. */
  #runStartMs = 0

  constructor(count: number, options: Options) {
    this.#free = count
    this.#options = options
    this.#limit = options.limitsWait ? new WaitLimit() : undefined
    this.#ofCallers = options.maxPerCaller === undefined ? undefined : new Map()
  }

  get waiting(): number {
    return this.#waiting.size
  }

  get free(): number {
    return this.#free
  }

  /** For how long work has waited without any getting a slot, in ms; 0 if none waits or the wait is not limited. */
  get stalledMs(): number {
    return this.#limit?.stalledMs ?? 0
  }

  /** Whether new work of a caller fails because the wait is too long: no other caller has more that waits. */
  isOverloaded(caller: string): boolean {
    return this.#limit?.isOverloaded() === true && this.#waiting.wouldHaveMost(caller)
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
    if (!this.#options.isRemote) this.#runStartMs = performance.now()
    return undefined
  }

  /**
   * @param caller that acquired the slot
   * @param usedMs for how long, which counts as several turns of the caller if it is longer than {@link TURN_MS}
   */
  release(caller = '', usedMs = 0): void {
    this.#count(caller, -1)
    if (caller !== '') this.#waiting.charge(caller, Math.floor(usedMs / TURN_MS))
    const isLong = !this.#options.isRemote && performance.now() - this.#runStartMs > MAX_RUN_MS
    if (isLong && this.#waiting.size > 0) {
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
    for (let next = this.#waiting.take(); next !== undefined; next = this.#waiting.take()) this.#refuse(next, error)
  }

  #handOver(): void {
    const next = this.#waiting.take(this.#mayRun)
    if (next === undefined) {
      this.#free++
      return
    }
    this.#end(next, true)
    this.#count(next.caller, 1)
    next.resolve()
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
    if (this.isOverloaded(caller)) return Promise.reject(new Busy(`Too many ${what} are waiting.`))
    return new Promise((resolve, reject) => {
      const turn: Turn = { caller, resolve, reject, timer: undefined, wait: this.#limit?.begin() }
      if (Number.isFinite(timeoutMs)) turn.timer = setTimeout(this.#expire, timeoutMs, turn)
      this.#waiting.add(caller, turn, isFirst)
      if (isFirst || this.#waiting.size <= maxWaiting) return
      const dropped = this.#waiting.drop()
      if (dropped !== undefined) this.#refuse(dropped, new Busy(`Too many ${what} are waiting.`))
    })
  }

  readonly #expire = (turn: Turn): void => {
    this.#waiting.remove(turn.caller, turn)
    this.#refuse(turn, new Busy(`The wait for other ${this.#options.what ?? 'writes'} timed out.`))
  }

  #refuse(turn: Turn, error: Error): void {
    this.#end(turn, false)
    turn.reject(error)
  }

  #end({ timer, wait }: Turn, isServed: boolean): void {
    clearTimeout(timer)
    if (wait !== undefined) this.#limit?.end(wait, isServed)
  }
}
