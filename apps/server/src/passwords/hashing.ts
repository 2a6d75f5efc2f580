import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { ApiError } from '@resource/openapi'

// One core is left to the event loop.
const AT_ONCE = Math.max(1, Math.min(3, availableParallelism() - 1))
// A core that is never at rest costs everybody else, whatever the priority: on two cores reads wait twice as long.
const REST_MS = 5
// Some two seconds' worth on one core.
const MOST_WAITING = 100

/** Entries of callers, taken by turns of the callers, however many entries one of them has. */
export class FairQueue<Entry> {
  // In the order of their turns.
  readonly #callers = new Map<string, Entry[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** @param isFirst whether it goes before the caller's others */
  add(caller: string, entry: Entry, isFirst = false): void {
    const entries = this.#callers.get(caller)
    if (entries === undefined) this.#callers.set(caller, [entry])
    else if (isFirst) entries.unshift(entry)
    else entries.push(entry)
    this.#size++
  }

  /** The oldest entry of the caller whose turn it is. */
  take(): Entry | undefined {
    for (const [caller, entries] of this.#callers) {
      const entry = entries.shift()
      this.#callers.delete(caller)
      if (entries.length > 0) this.#callers.set(caller, entries)
      this.#size--
      return entry
    }
    return undefined
  }

  /** The newest entry of the caller that has most; of several, of the one whose turn is last. */
  drop(): Entry | undefined {
    let most: [string, Entry[]] | undefined
    for (const caller of this.#callers) if (caller[1].length >= (most?.[1].length ?? 0)) most = caller
    if (most === undefined) return undefined
    const [caller, entries] = most
    const entry = entries.pop()
    if (entries.length === 0) this.#callers.delete(caller)
    this.#size--
    return entry
  }
}

const free: Worker[] = []
const waiting = new FairQueue<{ start: () => void; refuse: (problem: ApiError) => void }>()
let running = 0
let refused = 0

/**
 * The argon2id hash of a text, made when its turn comes, in a thread of low priority. Callers take turns. A request that
 * needs many asks for them one after another, so that the next request has not to wait for all of them.
 *
 * @param caller those without a name share one turn
 * @param isBegun whether the request has had a turn already: it then goes before its caller's others, which would else
 * all be refused after their first turn
 * @param salt of 16 bytes
 * @returns in PHC form with a salt of its own; with a `salt`, the bare 32 bytes in base64
 * @throws ApiError 503 when too many wait, and none has more waiting than its caller
 */
export async function hashInTurn(
  text: string,
  { caller = '', salt, isBegun = false }: { caller?: string; salt?: Uint8Array | undefined; isBegun?: boolean } = {},
): Promise<string> {
  if (running === AT_ONCE) await turn(caller, isBegun)
  else running++
  try {
    const thread = free.pop() ?? new Worker(new URL('hashing-thread.mjs', import.meta.url))
    // Keeps the process only while it works.
    thread.ref()
    thread.postMessage({ text, salt })
    const [{ hash, error }] = (await once(thread, 'message')) as [{ hash: string; error?: unknown }]
    thread.unref()
    free.push(thread)
    if (error !== undefined) throw error
    return hash
  } finally {
    if (waiting.size > 0) setTimeout(handOver, REST_MS)
    else handOver()
  }
}

/** How many are hashed, how many wait, and how many have been refused so far. */
export function hashingQueue() {
  return { running, waiting: waiting.size, refused }
}

function handOver(): void {
  const next = waiting.take()
  if (next === undefined) running--
  else next.start()
}

function turn(caller: string, isBegun: boolean): Promise<void> {
  return new Promise((start, refuse) => {
    waiting.add(caller, { start, refuse }, isBegun)
    if (isBegun || waiting.size <= MOST_WAITING) return
    refused++
    const headers = { 'Retry-After': '2' }
    waiting.drop()?.refuse(new ApiError(503, 'Too many passwords wait to be hashed; try again', { headers }))
  })
}
