import { RateLimitedError, type ServiceError } from '@resource/client'
import { calls, LONG_TIMEOUTS, type RowResult, rowError } from '../resources/calls.ts'
import { useSession } from '../session/session.ts'
import { isOutage } from '../ui/format.ts'
import { chunkEnd, type Import, type Progress, unsent } from './import.ts'
import type { Mode } from './rows.ts'

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
// The service keeps the answers of idempotency keys for 24 hours.
const KEY_LIFETIME_MS = 23 * 60 * 60 * 1000

const CHECK = 'check whether the row is stored before you import it again'
const TOO_LATE = `The import stopped more than 23 hours ago: ${CHECK}`
const OTHER_CALLER = `The row was sent with another API key: ${CHECK}`

interface Listener {
  /** Called after each request, before the next. */
  onProgress: (progress: Progress) => Promise<void>
  /** Called with the reason while the service is unreachable, and with undefined when it is back. */
  onWait: (outage: ServiceError | undefined) => void
}

/**
 * Sends the rows chunk by chunk. Each chunk has an idempotency key that depends only on the import and its position, so
 * that a chunk that is sent again, also after a reload, has no second effect. During an outage it waits and tries again.
 *
 * @param signal stops the import after the current request
 * @throws ServiceError if the service refuses a request
 */
export async function sendRows(
  running: Import,
  from: Progress,
  signal: AbortSignal,
  listener: Listener,
): Promise<void> {
  let progress = from
  const update = async (changes: Partial<Progress>) => {
    progress = { ...progress, ...changes }
    await listener.onProgress(progress)
  }
  while (progress.next < running.rows.length && !signal.aborted) {
    const next = chunkEnd(running.rows, progress.next)
    const chunk = unsent(running, progress, next)
    if (chunk.length === 0) {
      await update({ next, sentAt: undefined })
      continue
    }
    const doubt = doubtOf(progress)
    if (doubt !== undefined) {
      const failed = chunk.map((index): [number, string] => [index, doubt])
      await update({ next, sentAt: undefined, failed: [...progress.failed, ...failed] })
    } else {
      const wasSent = progress.sentAt !== undefined
      if (!wasSent) await update({ sentAt: Date.now(), sentBy: callerName() })
      const answer = await sendPatiently(running, chunk, progress.next, signal, listener)
      if ('results' in answer) {
        await update({ ...outcome(progress, chunk, answer.results), next, sentAt: undefined })
        continue
      }
      if (answer.refusal === undefined) return
      // Refused at the first attempt, so no row is stored.
      if (answer.attempts === 1 && !wasSent) await update({ sentAt: undefined })
      throw answer.refusal
    }
  }
}

/** Why a chunk that was sent before cannot be sent again: the service might store its rows a second time. */
function doubtOf({ sentAt, sentBy }: Progress): string | undefined {
  if (sentAt === undefined) return undefined
  if (Date.now() - sentAt > KEY_LIFETIME_MS) return TOO_LATE
  return sentBy !== undefined && sentBy !== callerName() ? OTHER_CALLER : undefined
}

function callerName(): string | undefined {
  return useSession.getState().session?.name
}

function outcome({ created, updated, failed }: Progress, chunk: number[], results: RowResult[]): Partial<Progress> {
  const count = (status: number) => results.filter((result) => result.status === status).length
  return {
    created: created + count(201),
    updated: updated + count(200),
    failed: [
      ...failed,
      ...results.flatMap((result, index): [number, string][] =>
        result.status < 300 ? [] : [[chunk[index] as number, rowError(result)]],
      ),
    ],
  }
}

type Answer = { results: RowResult[] } | { refusal: unknown; attempts: number }

/** Sends a chunk until the service answers; without a refusal if the import was stopped before. */
async function sendPatiently(
  { id, noun, rows, settings }: Import,
  chunk: number[],
  position: number,
  signal: AbortSignal,
  { onWait }: Listener,
): Promise<Answer> {
  const input = { [noun]: chunk.map((index) => rows[index]?.record), ...inputOf(settings.mode) }
  // Each attempt is counted here, so the client makes one a call.
  const options = { ...LONG_TIMEOUTS, retryForMs: 0, idempotencyKey: `${id}-${position}` }
  let attempts = 0
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    attempts++
    try {
      const { results } = await calls(noun).updateMany.mutate(input, options)
      onWait(undefined)
      return { results }
    } catch (error) {
      if (!isOutage(error)) return { refusal: error, attempts }
      onWait(error)
      await pause(error instanceof RateLimitedError ? (error.retryAfterMs ?? pauseMs) : pauseMs, signal)
    }
  }
  return { refusal: undefined, attempts }
}

function inputOf({ action, key }: Mode) {
  return { key, partial: true, create: action !== 'update' }
}

/** Waits, at most until the browser is back online or the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = new AbortController()
    const end = () => {
      clearTimeout(timer)
      over.abort()
      resolve()
    }
    const timer = setTimeout(end, ms)
    window.addEventListener('online', end, over)
    signal.addEventListener('abort', end, over)
  })
}
