import { RateLimitedError, ServiceError } from '@resource/client'
import { calls } from '../resources/calls.ts'
import type { Noun } from '../resources/resource.ts'
import { wordsOf } from '../ui/words.ts'
import type { SourceRow } from './source.ts'

export interface Progress {
  created: number
  /** Rows that were refused or could not be sent, with their faults. */
  failed: SourceRow[]
}

const CHUNK = 500
// A refusal may name one row only. After so many the rest of the chunk goes one by one, many calls to a request.
const MOST_REFUSALS = 3
const AT_ONCE = 50
// Hashing many passwords takes the service its time.
const PATIENT = { attemptTimeoutMs: 120_000, timeoutMs: 240_000 }

type Add = (created: number, failed?: SourceRow[]) => void

/** Rows of a chunk that the service gave no answer about: they may have been created, or not. */
interface Lost {
  rows: SourceRow[]
  error: unknown
}

/**
 * Creates the records chunk by chunk. The rows a refusal names are set aside and the rest of the chunk is sent again.
 * When the service cannot be had, what is left has failed.
 *
 * @param onProgress hears after every request
 * @param signal ends it after the request under way, so that every row counted was created or was not; what was not
 *   sent is in neither count
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
    const lost = await sendChunk(noun, rows.slice(begin, begin + CHUNK), signal, add)
    if (lost === undefined) continue
    add(0, withFault(lost.rows, `${wordsOf(lost.error)} It may have been created: look before it is sent again.`))
    add(0, withFault(rows.slice(begin + CHUNK), `Not sent. ${wordsOf(lost.error)}`))
    break
  }
  return progress
}

async function sendChunk(noun: Noun, chunk: SourceRow[], signal: AbortSignal, add: Add): Promise<Lost | undefined> {
  let rest = chunk
  for (let refusals = 0; rest.length > 0 && !signal.aborted; refusals++) {
    if (refusals === MOST_REFUSALS) return sendSingly(noun, rest, signal, add)
    try {
      await calls(noun).createMany.mutate({ [noun]: rest.map(({ record }) => record) }, PATIENT)
      add(rest.length)
      return undefined
    } catch (error) {
      const faults = isRefusal(error) ? error.faultsIn(noun) : new Map<number, string>()
      if (faults.size === 0) return { rows: rest, error }
      add(
        0,
        rest.flatMap((row, index) => withFault(faults.has(index) ? [row] : [], faults.get(index) ?? '')),
      )
      rest = rest.filter((_, index) => !faults.has(index))
    }
  }
}

async function sendSingly(noun: Noun, rows: SourceRow[], signal: AbortSignal, add: Add): Promise<Lost | undefined> {
  for (let begin = 0; begin < rows.length && !signal.aborted; begin += AT_ONCE) {
    const batch = rows.slice(begin, begin + AT_ONCE)
    const results = await Promise.allSettled(batch.map(({ record }) => calls(noun).create.mutate(record)))
    const failed = batch.flatMap((row, index) => {
      const result = results[index]
      return result?.status === 'rejected' ? [{ row, error: result.reason as unknown }] : []
    })
    const lost = failed.filter(({ error }) => !isRefusal(error))
    add(
      batch.length - failed.length,
      failed.flatMap(({ row, error }) => (isRefusal(error) ? withFault([row], refusal(error)) : [])),
    )
    const [first] = lost
    if (first !== undefined) {
      return { rows: [...lost.map(({ row }) => row), ...rows.slice(begin + AT_ONCE)], error: first.error }
    }
  }
}

function withFault(rows: SourceRow[], fault: string): SourceRow[] {
  return rows.map((row) => ({ ...row, faults: [fault] }))
}

/** Whether the service has weighed the record and said no. */
function isRefusal(error: unknown): error is ServiceError {
  if (!(error instanceof ServiceError) || error instanceof RateLimitedError) return false
  return error.status >= 400 && error.status < 500
}

function refusal(error: ServiceError): string {
  if (error.fields.length === 0) return wordsOf(error)
  return error.fields.map(({ field, message }) => `${field}: ${message}`).join('; ')
}
