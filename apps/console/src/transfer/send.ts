import { RateLimitedError, ServiceError } from '@resource/client'
import { calls } from '../resources/calls.ts'
import type { Noun } from '../resources/resource.ts'
import { errorMessage } from '../ui/format.ts'
import type { SourceRow } from './source.ts'

export interface Progress {
  created: number
  /** Rows that were rejected or could not be sent, with their errors. */
  failed: SourceRow[]
}

const CHUNK = 500
// A rejection may name only one row. After this many, the rest of the chunk is sent record by record, in batches.
const MAX_REJECTIONS = 3
const BATCH = 50
// The service hashes each password, which takes time.
const BULK_TIMEOUTS = { attemptTimeoutMs: 120_000, timeoutMs: 240_000 }

type Add = (created: number, failed?: SourceRow[]) => void

/** Rows without a response from the service; they may or may not have been created. */
interface Unconfirmed {
  rows: SourceRow[]
  error: unknown
}

/**
 * Creates the records chunk by chunk. If the service rejects rows, the rest of the chunk is sent again without them. If
 * the service is unavailable, all remaining rows fail.
 *
 * @param onProgress called after each request
 * @param signal stops the import after the current request, so that the outcome of every counted row is certain; rows
 *   that were not sent are in neither count
 */
export async function sendRows(
  noun: Noun,
  rows: SourceRow[],
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<Progress> {
  const progress: Progress = { created: 0, failed: [] }
  const add: Add = (created, failed = []) => {
    progress.created += created
    progress.failed.push(...failed)
    onProgress({ ...progress })
  }
  for (let begin = 0; begin < rows.length && !signal.aborted; begin += CHUNK) {
    const unconfirmed = await sendChunk(noun, rows.slice(begin, begin + CHUNK), signal, add)
    if (unconfirmed === undefined) continue
    add(
      0,
      withError(
        unconfirmed.rows,
        `${errorMessage(unconfirmed.error)} The record may have been created. Check before you import it again.`,
      ),
    )
    add(0, withError(rows.slice(begin + CHUNK), `Not sent. ${errorMessage(unconfirmed.error)}`))
    break
  }
  return progress
}

async function sendChunk(
  noun: Noun,
  chunk: SourceRow[],
  signal: AbortSignal,
  add: Add,
): Promise<Unconfirmed | undefined> {
  let rest = chunk
  for (let rejections = 0; rest.length > 0 && !signal.aborted; rejections++) {
    if (rejections === MAX_REJECTIONS) return sendOneByOne(noun, rest, signal, add)
    try {
      await calls(noun).createMany.mutate({ [noun]: rest.map(({ record }) => record) }, BULK_TIMEOUTS)
      add(rest.length)
      return undefined
    } catch (error) {
      const errors = isRejection(error) ? error.faultsIn(noun) : new Map<number, string>()
      if (errors.size === 0) return { rows: rest, error }
      add(
        0,
        rest.flatMap((row, index) => withError(errors.has(index) ? [row] : [], errors.get(index) ?? '')),
      )
      rest = rest.filter((_, index) => !errors.has(index))
    }
  }
}

async function sendOneByOne(
  noun: Noun,
  rows: SourceRow[],
  signal: AbortSignal,
  add: Add,
): Promise<Unconfirmed | undefined> {
  for (let begin = 0; begin < rows.length && !signal.aborted; begin += BATCH) {
    const batch = rows.slice(begin, begin + BATCH)
    const results = await Promise.allSettled(batch.map(({ record }) => calls(noun).create.mutate(record)))
    const failed = batch.flatMap((row, index) => {
      const result = results[index]
      return result?.status === 'rejected' ? [{ row, error: result.reason as unknown }] : []
    })
    const unconfirmed = failed.filter(({ error }) => !isRejection(error))
    add(
      batch.length - failed.length,
      failed.flatMap(({ row, error }) => (isRejection(error) ? withError([row], rejectionMessage(error)) : [])),
    )
    const [first] = unconfirmed
    if (first !== undefined) {
      return { rows: [...unconfirmed.map(({ row }) => row), ...rows.slice(begin + BATCH)], error: first.error }
    }
  }
}

function withError(rows: SourceRow[], error: string): SourceRow[] {
  return rows.map((row) => ({ ...row, errors: [error] }))
}

/** Whether the service validated the record and rejected it. */
function isRejection(error: unknown): error is ServiceError {
  if (!(error instanceof ServiceError) || error instanceof RateLimitedError) return false
  return error.status >= 400 && error.status < 500
}

function rejectionMessage(error: ServiceError): string {
  if (error.fields.length === 0) return errorMessage(error)
  return error.fields.map(({ field, message }) => `${field}: ${message}`).join('; ')
}
