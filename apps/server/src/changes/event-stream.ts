import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '@resource/openapi'
import type { Filter } from './entry.ts'
import type { Follower } from './followers.ts'
import type { Frames } from './frames.ts'
import { cursorOf, type Position } from './position.ts'
import type { Tailer } from './tailer.ts'

const PING_MS = 15_000
const RETRY_MS = 1_000
/** After so many entries that do not match, a client learns its position. */
const MAX_SKIPPED = 1_000

type Result = IteratorResult<string | Uint8Array, undefined>
const DONE: Result = { value: undefined, done: true }

/** The changes after a position as server-sent events. It has a position in the entries of the tailer, and no queue. */
export class EventStream implements AsyncIterableIterator<string | Uint8Array>, Follower {
  readonly filter: Filter
  readonly #tailer: Tailer
  readonly #frames: Frames
  readonly #caller: string
  readonly #onEnd: () => void
  #position: Position
  /** The position that the client knows; undefined before the first event. */
  #sentId: number | undefined
  #sentMs = 0
  #losses: number
  #wake: (() => void) | undefined
  #isEnded = false

  constructor(tailer: Tailer, frames: Frames, position: Position, filter: Filter, caller: string, onEnd: () => void) {
    this.filter = filter
    this.#caller = caller
    this.#tailer = tailer
    this.#frames = frames
    this.#position = position
    this.#losses = tailer.losses
    this.#onEnd = onEnd
  }

  [Symbol.asyncIterator]() {
    return this
  }

  async next(): Promise<Result> {
    for (;;) {
      if (this.#isEnded) return this.#done()
      if (this.#sentId === undefined) return this.#send(`retry: ${RETRY_MS}\n${this.#positionEvent()}`)
      const part = await this.#read()
      if (part !== undefined) return part
      if (this.#isEnded) return this.#done()
      if (performance.now() - this.#sentMs >= PING_MS)
        return this.#send(this.#position.id === this.#sentId ? ': ping\n\n' : this.#positionEvent())
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  async return(): Promise<Result> {
    this.end()
    return this.#done()
  }

  wake(): void {
    this.#wake?.()
  }

  tick(): void {
    if (performance.now() - this.#sentMs >= PING_MS) this.wake()
  }

  end(): void {
    this.#isEnded = true
    this.wake()
  }

  /** The next part; undefined if there are no further changes, or the database does not answer. */
  async #read(): Promise<Result | undefined> {
    try {
      if (this.#losses !== this.#tailer.losses) {
        await this.#tailer.assertKept(this.#position)
        this.#losses = this.#tailer.losses
      }
      for (;;) {
        const found = this.#frames.after(this.#position, this.filter, this.#caller)
        const { to, bytes } = found instanceof Promise ? await found : found
        if (to.id === this.#position.id) return undefined
        this.#position = to
        if (bytes !== undefined) return this.#send(bytes)
        if (to.id - (this.#sentId ?? 0) >= MAX_SKIPPED) return this.#send(this.#positionEvent())
      }
    } catch (error) {
      if (error instanceof ApiError && error.status === 410) {
        this.end()
        return { value: `event: reset\ndata: ${JSON.stringify({ reason: error.reason })}\n\n`, done: false }
      }
      await sleep(RETRY_MS, undefined, { ref: false })
      return this.#isEnded ? undefined : this.#send(this.#positionEvent())
    }
  }

  #positionEvent(): string {
    const cursor = cursorOf(this.#position)
    return `event: position\nid: ${cursor}\ndata: ${JSON.stringify({ cursor })}\n\n`
  }

  #send(value: string | Uint8Array): Result {
    this.#sentId = this.#position.id
    this.#sentMs = performance.now()
    return { value, done: false }
  }

  #done(): Result {
    this.#onEnd()
    return DONE
  }
}
