import cluster, { type Worker } from 'node:cluster'
import type { WriteTurns } from '@resource/database'

// From a worker: it wants the turn, which ends the one that it has; it ends its turn.
const WANTED = 'write turn: wanted'
const ENDED = 'write turn: ended'
// From the primary: the turn belongs to the receiver, to another worker, to none.
const GIVEN = 'write turn: given'
const TAKEN = 'write turn: taken'
const FREE = 'write turn: free'

// A worker may write for this time while others wait. Each turn costs three messages.
const TURN_MS = 10

// After this time the next worker gets the turn, so that one that hangs does not stop the others.
const MAX_TURN_MS = 1_000

/**
 * In the primary: gives the turn to write to one worker after another, in the order in which they want it. SQLite's lock has no
 * queue: a process that has just released it takes it again before another one tries.
 */
export function giveWriteTurns(): void {
  const waiting = new Set<Worker>()
  let holder: Worker | undefined
  let limit: NodeJS.Timeout | undefined
  const sendAll = (message: string, except?: Worker) => {
    for (const worker of Object.values(cluster.workers ?? {})) if (worker !== except) worker?.send(message, ignore)
  }
  const giveNext = () => {
    clearTimeout(limit)
    const [next] = waiting
    if (next === undefined) sendAll(FREE)
    else {
      if (holder === undefined) sendAll(TAKEN, next)
      waiting.delete(next)
      next.send(GIVEN, ignore)
      limit = setTimeout(giveNext, MAX_TURN_MS)
    }
    holder = next
  }
  cluster.on('message', (worker, message) => {
    if (message === WANTED) waiting.add(worker)
    else if (message !== ENDED || worker !== holder) return
    if (worker === holder || holder === undefined) giveNext()
  })
  for (const end of ['disconnect', 'exit']) {
    cluster.on(end, (worker: Worker) => {
      waiting.delete(worker)
      if (worker === holder) giveNext()
    })
  }
}

/** In a worker: its turns to write. Undefined in a process without workers. */
export function writeTurns(): WriteTurns | undefined {
  if (!cluster.isWorker) return undefined
  let state = FREE
  let sinceMs = 0
  let given: PromiseWithResolvers<void> | undefined
  const send = (message: string) => process.send?.(message, undefined, undefined, ignore)
  const end = () => {
    state = TAKEN
    send(ENDED)
  }
  process.on('message', (message) => {
    if (message === TAKEN || message === FREE) state = message
    if (message !== GIVEN) return
    state = GIVEN
    sinceMs = performance.now()
    // Undefined if the wait has timed out.
    if (given === undefined) end()
    else given.resolve()
  })
  const take = async (timeoutMs: number) => {
    if (state === GIVEN) return
    given = Promise.withResolvers()
    const timer = setTimeout(given.resolve, timeoutMs)
    send(WANTED)
    await given.promise
    clearTimeout(timer)
    given = undefined
  }
  return {
    isTaken: () => state === TAKEN,
    take,
    pass: (isMore, timeoutMs) => {
      if (state === GIVEN) {
        if (!isMore) end()
        else if (performance.now() - sinceMs >= TURN_MS) state = TAKEN
      }
      return isMore && state === TAKEN ? take(timeoutMs) : undefined
    },
  }
}

// Without a callback, a failed send to a process that has just exited would end this process as well.
function ignore(): void {}
