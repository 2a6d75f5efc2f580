import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { RateLimitedError, ServiceError, TimeoutError, UnavailableError, uuidOf } from '@resource/client'
import type { Chunk } from './chunks.ts'
import type { Mode } from './fields.ts'
import type { RemainingRow } from './remaining.ts'
import { type RowResult, rowError } from './results.ts'

/** The service keeps the answers of idempotency keys for 24 hours. */
const MAX_IN_FLIGHT_AGE_MS = 23 * 60 * 60 * 1000
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 10_000

/** The progress of an import, saved before and after each request. */
export interface Progress {
  /** Rows that have an outcome. */
  rows: number
  created: number
  updated: number
  unchanged: number
  /** The number of rows after `rows` that may be stored, because they were sent: at `at`, by `caller`. */
  inFlight: number
  at: number
  caller: string
  /** The rows of that chunk that the service rejected: index in the chunk and reason. */
  refused: [number, string][]
}

/** The progress before the first row. */
export const NOTHING_SENT: Progress = {
  ...{ rows: 0, created: 0, updated: 0, unchanged: 0 },
  ...{ inFlight: 0, at: 0, caller: '', refused: [] },
}

/** What sends the chunks of an import. */
export interface Sender {
  noun: string
  mode: Mode
  /** Random; the idempotency keys derive from it. */
  importId: string
  /** SHA-256 of the file. */
  digest: string
  /** Who sends: the service recognizes idempotency keys of the same caller only. */
  caller: string
  /** Changed in place. */
  progress: Progress
  save: () => unknown
  /** Calls `createMany` or `updateMany`. @param options with the group of the requests */
  call: (
    verb: 'createMany' | 'updateMany',
    input: Record<string, unknown>,
    options: { group: string },
  ) => Promise<Record<string, unknown>>
  /** Whether the collection has `updateMany`. */
  canUpdate: boolean
  wait: Waiting
}

/** How to wait for a service that cannot be reached or is overloaded. */
interface Waiting {
  /** The longest wait. */
  maxMs: number
  /** Ends the wait. */
  stop: AbortSignal
  /** Ends early when `stop` aborts. */
  pause: (ms: number, stop: AbortSignal) => Promise<unknown>
  /** Called before each pause. */
  onPause: (error: ServiceError, elapsedMs: number, pauseMs: number) => void
  onAnswer: () => void
}

/** Why the chunk in flight cannot be sent again: the service might store its rows a second time. */
export function doubtOf({ inFlight, at, caller }: Progress, now: string): 'too late' | 'other caller' | undefined {
  if (inFlight === 0) return undefined
  if (Date.now() - at > MAX_IN_FLIGHT_AGE_MS) return 'too late'
  return caller === now ? undefined : 'other caller'
}

/**
 * Sends the valid rows of a chunk under an idempotency key that depends only on the import and its position, so that a chunk
 * that is sent again has no second effect. Waits for a service that cannot be reached.
 *
 * @returns the rows that are invalid or that the service rejects, and the progress to assign once these are kept
 * @throws the error of a service that refuses the request
 */
export async function sendChunk(
  sender: Sender,
  chunk: Chunk,
): Promise<{ failed: RemainingRow[]; next: Partial<Progress> }> {
  const { noun, mode, importId, digest, progress, canUpdate } = sender
  const { start, rows } = chunk
  const failed = new Map(rows.flatMap(({ errors }, n) => (errors.length === 0 ? [] : [[n, errors.join('; ')]])))
  const outcome = { created: 0, updated: 0, unchanged: 0 }
  for (;;) {
    const refused = new Map(progress.refused)
    const sent = [...rows.keys()].filter((n) => !failed.has(n) && !refused.has(n))
    if (sent.length > 0) {
      const records = sent.map((n) => rows[n]?.record)
      // The file's digest, the position and the number of rejected rows determine the records: same key, same request.
      const text = utf8ToBytes(`${digest} ${start} ${refused.size}`)
      const key = bytesToHex(hmac(sha256, utf8ToBytes(importId), text))
      const isAllOrNone = mode.action === 'create' && !(refused.size > 0 && canUpdate)
      try {
        const { results = [] } = await (isAllOrNone
          ? send(sender, rows.length, 'createMany', { [noun]: records, idempotency_key: key })
          : send(sender, rows.length, 'updateMany', {
              [noun]: records,
              ...{ key: mode.key, create: mode.action !== 'update', partial: true, idempotency_key: key },
            }))
        if (isAllOrNone) outcome.created = sent.length
        for (const [n, result] of (isAllOrNone ? [] : (results as RowResult[])).entries()) {
          if (result.status >= 300) refused.set(sent[n] as number, rowError(result))
          else outcome[result.status === 201 ? 'created' : result.changed === false ? 'unchanged' : 'updated']++
        }
      } catch (error) {
        const faults = error instanceof ServiceError ? [...error.faultsIn(noun)] : []
        if (faults.length === 0) throw error
        // All or none: the rest is sent again without the rejected rows. That names every further row that cannot be stored,
        // where an error of `createMany` names the first one whose value is taken.
        for (const [index, reason] of faults) progress.refused.push([sent[index] as number, reason])
        continue
      }
    }
    for (const [n, reason] of refused) failed.set(n, reason)
    for (const name of ['created', 'updated', 'unchanged'] as const) outcome[name] += progress[name]
    return {
      failed: rows.flatMap((row, n) => (failed.has(n) ? [{ row, reason: failed.get(n) as string }] : [])),
      next: { ...outcome, rows: start + rows.length, inFlight: 0, refused: [] },
    }
  }
}

async function send(
  { importId, progress, caller, save, call, wait }: Sender,
  count: number,
  verb: 'createMany' | 'updateMany',
  input: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  // A chunk that may be stored keeps the time and the caller of its first attempt.
  let isUncertain = progress.inFlight > 0
  if (!isUncertain) Object.assign(progress, { inFlight: count, at: Date.now(), caller })
  await save()
  const attempt = () =>
    call(verb, input, { group: groupOf(importId) }).catch((error) => {
      isUncertain ||= !isRefusal(error)
      throw error
    })
  try {
    const lastMs = progress.at + MAX_IN_FLIGHT_AGE_MS - Date.now()
    return await patiently(attempt, { ...wait, maxMs: Math.min(wait.maxMs, lastMs) })
  } catch (error) {
    progress.inFlight = isUncertain ? count : 0
    throw error
  }
}

/** The group of the requests of an import. It does not reveal the id. */
export function groupOf(importId: string): string {
  return uuidOf(bytesToHex(hmac(sha256, utf8ToBytes(importId), utf8ToBytes('group'))))
}

/** Whether an error is an answer of the service that nothing was stored. */
function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && error.status >= 400 && error.status < 500
}

/** Whether the service cannot be reached or is overloaded, so that the same call may succeed later. */
export function isUnreachable(error: unknown): error is ServiceError {
  return error instanceof UnavailableError || error instanceof TimeoutError || error instanceof RateLimitedError
}

async function patiently<T>(attempt: () => Promise<T>, { maxMs, stop, pause, onPause, onAnswer }: Waiting): Promise<T> {
  const started = performance.now()
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
    try {
      const result = await attempt()
      onAnswer()
      return result
    } catch (error) {
      const elapsedMs = performance.now() - started
      if (!isUnreachable(error) || elapsedMs >= maxMs || stop.aborted) throw error
      const nextMs = Math.min(maxMs - elapsedMs, Math.max(pauseMs, error.retryAfterMs ?? 0))
      onPause(error, elapsedMs, nextMs)
      await pause(nextMs, stop)
      if (stop.aborted) throw error
    }
  }
}
