import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { Slots } from '@resource/database'
import { ApiError } from '@resource/openapi'

// Leaves one core to the event loop.
const CONCURRENCY = Math.max(1, Math.min(3, availableParallelism() - 1))
// A pause between hashes: without it, reads on two cores wait twice as long, whatever the priority of the thread.
const PAUSE_MS = 5
// About two seconds of work on one core.
const MAX_QUEUED = 100

const free: Worker[] = []
const slots = new Slots(CONCURRENCY, { maxWaiting: MAX_QUEUED, maxWaitMs: Number.POSITIVE_INFINITY })
let refused = 0

/**
 * Computes the argon2id hash of a text in a thread of low priority. A queue is fair between callers. A request that needs
 * several hashes must enqueue them one after another, so that other requests do not wait for all of them.
 *
 * @param caller the key for fairness; calls without one share a key
 * @param isContinuation whether the request already got a hash. It then goes before its caller's other requests and may
 * exceed the queue limit; otherwise a full queue would refuse every request with several hashes after its first one.
 * @param salt 16 bytes
 * @returns the hash in PHC form with a random salt, or with `salt` the raw 32 bytes in base64
 * @throws ApiError 503 if the queue is full and no other caller has more entries
 */
export async function enqueueHash(
  text: string,
  {
    caller = '',
    salt,
    isContinuation = false,
  }: { caller?: string; salt?: Uint8Array | undefined; isContinuation?: boolean } = {},
): Promise<string> {
  const turn = slots.acquire(caller, undefined, isContinuation)
  if (turn !== undefined) await turn.catch(refuse)
  try {
    const thread = free.pop() ?? new Worker(new URL('hashing-thread.mjs', import.meta.url))
    // Keeps the process alive only while the thread works.
    thread.ref()
    thread.postMessage({ text, salt })
    const [{ hash, error }] = (await once(thread, 'message')) as [{ hash: string; error?: unknown }]
    thread.unref()
    free.push(thread)
    if (error !== undefined) throw error
    return hash
  } finally {
    if (slots.waiting > 0) setTimeout(() => slots.release(), PAUSE_MS)
    else slots.release()
  }
}

/** The number of hashes in progress, waiting, and refused so far. */
export function hashingQueue() {
  return { running: CONCURRENCY - slots.free, waiting: slots.waiting, refused }
}

function refuse(cause: unknown): never {
  refused++
  const headers = { 'Retry-After': '2' }
  throw new ApiError(503, 'Too many passwords are waiting to be hashed; try again', { headers, cause })
}
