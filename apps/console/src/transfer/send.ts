import type { ServiceError } from '@resource/client'
import { type Chunk, chunks, doubtOf, isUnreachable, sendChunk, targetOf } from '@resource/import'
import { LONG_TIMEOUTS, writes } from '../resources/calls.ts'
import { useSession } from '../session/session.ts'
import type { Import, Progress } from './running.ts'

const MAX_ROWS_PER_REQUEST = 500

const CHECK = 'check whether the row is stored before you import it again'
const DOUBTS = {
  'too late': `The import stopped more than 23 hours ago: ${CHECK}`,
  'other caller': `The row was sent with another API key: ${CHECK}`,
}

interface Listener {
  /** Called before and after each request. */
  onProgress: (progress: Progress) => Promise<void>
  /** Called with the reason while the service is unreachable, and with undefined when it is back. */
  onWait: (outage: ServiceError | undefined) => void
}

/**
 * Sends the rows chunk by chunk. A chunk that is sent again, also after a reload, has no second effect. During an outage it
 * waits and tries again.
 *
 * @param signal stops the import after the current request
 * @throws ServiceError if the service refuses a request
 */
export async function sendRows(
  running: Import,
  from: Progress,
  signal: AbortSignal,
  { onProgress, onWait }: Listener,
): Promise<void> {
  const { id: importId, noun, file, settings, rows } = running
  const progress = structuredClone(from)
  const caller = useSession.getState().session?.name ?? ''
  const save = () => onProgress({ ...progress })
  const sender = {
    ...{ noun, mode: settings.mode, importId, digest: file.digest, caller, progress, save },
    canUpdate: targetOf(noun).changed !== undefined,
    // Each attempt is made by the sender, so the client makes one a call.
    call: (verb: 'createMany' | 'updateMany', input: object, options: { group: string }) => {
      signal.throwIfAborted()
      return writes(noun)[verb].mutate(input, { ...LONG_TIMEOUTS, ...options, retryForMs: 0 })
    },
    wait: {
      ...{ maxMs: Number.POSITIVE_INFINITY, stop: signal, pause },
      onPause: onWait,
      onAnswer: () => onWait(undefined),
    },
  }
  try {
    for await (const chunk of chunks(rows, MAX_ROWS_PER_REQUEST)) {
      if (chunk.start < progress.rows) continue
      if (signal.aborted) return
      const doubt = doubtOf(progress, caller)
      const { failed, next } = doubt === undefined ? await sendChunk(sender, chunk) : doubted(chunk, DOUBTS[doubt])
      const indexes = new Map(chunk.rows.map((row, n) => [row as object, chunk.start + n]))
      progress.failed.push(...failed.map(({ row, reason }): [number, string] => [indexes.get(row) ?? 0, reason]))
      Object.assign(progress, next)
      await save()
    }
  } catch (error) {
    // The rows that were sent are in doubt, and sent again under the same key.
    await save()
    if (!signal.aborted || !(isUnreachable(error) || error === signal.reason)) throw error
  }
}

function doubted({ start, rows }: Chunk, doubt: string) {
  const failed = rows.map((row) => ({ row, reason: row.errors.join('; ') || doubt }))
  return { failed, next: { rows: start + rows.length, inFlight: 0, refused: [] } }
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
