import { availableParallelism } from 'node:os'
import { Problem } from '@resource/openapi'

// One core is left to the event loop, and a thread of libuv's four to files and names.
const AT_ONCE = Math.max(1, Math.min(3, availableParallelism() - 1))
// Some three seconds' worth on one core.
const MOST_WAITING = 100

const waiting: (() => void)[] = []
let running = 0
let refused = 0

/**
 * Runs a password's hashing when its turn comes. A request that needs many asks for them one after another, so that the
 * next request has not to wait for all of them.
 *
 * @throws Problem 503 when too many wait already
 */
export async function hashInTurn<T>(hash: () => Promise<T>): Promise<T> {
  if (running === AT_ONCE) await turn()
  else running++
  try {
    return await hash()
  } finally {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}

/** How many are hashed, how many wait, and how many have been refused so far. */
export function hashingQueue() {
  return { running, waiting: waiting.length, refused }
}

function turn(): Promise<void> {
  if (waiting.length >= MOST_WAITING) {
    refused++
    throw new Problem(503, 'Too many passwords wait to be hashed; try again', { headers: { 'Retry-After': '2' } })
  }
  return new Promise((resolve) => waiting.push(resolve))
}
