import { ConflictError, InvalidInputError, ServiceError } from '@resource/client'
import { createRow, createRows } from '../resources/calls.ts'
import type { Resource } from '../resources/resource.ts'
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

/**
 * Creates the records chunk by chunk. The rows a refusal names are set aside and the rest of the chunk is sent again.
 * When the service cannot be had, what is left has failed.
 *
 * @param onProgress hears after every request
 * @param signal ends it; what was not sent is in neither count
 */
export async function sendRows(
  resource: Resource,
  rows: SourceRow[],
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<void> {
  const progress: Progress = { created: 0, failed: [] }
  const add = (created: number, failed: SourceRow[] = []) => {
    progress.created += created
    progress.failed = progress.failed.concat(failed)
    onProgress({ ...progress })
  }
  for (let begin = 0; begin < rows.length && !signal.aborted; begin += CHUNK) {
    try {
      await sendChunk(resource, rows.slice(begin, begin + CHUNK), signal, add)
    } catch (error) {
      if (signal.aborted) return
      const settled = progress.created + progress.failed.length
      add(0, withFault(rows.slice(settled), wordsOf(error)))
      return
    }
  }
}

type Add = (created: number, failed?: SourceRow[]) => void

async function sendChunk(resource: Resource, chunk: SourceRow[], signal: AbortSignal, add: Add): Promise<void> {
  let rest = chunk
  for (let refusals = 0; rest.length > 0; refusals++) {
    if (refusals === MOST_REFUSALS) return sendSingly(resource, rest, signal, add)
    try {
      await createRows(resource.noun, records(rest), signal)
      add(rest.length)
      return
    } catch (error) {
      const faults = faultsByIndex(error)
      if (faults.size === 0) throw error
      add(
        0,
        rest.flatMap((row, index) => withFault(faults.has(index) ? [row] : [], faults.get(index) ?? '')),
      )
      rest = rest.filter((_, index) => !faults.has(index))
    }
  }
}

async function sendSingly(resource: Resource, rows: SourceRow[], signal: AbortSignal, add: Add): Promise<void> {
  for (let begin = 0; begin < rows.length && !signal.aborted; begin += AT_ONCE) {
    const batch = rows.slice(begin, begin + AT_ONCE)
    const results = await Promise.allSettled(batch.map(({ record }) => createRow(resource.noun, record)))
    const failed = results.flatMap((result, index) => {
      const row = batch[index]
      return result.status === 'rejected' && row ? withFault([row], refusal(result.reason)) : []
    })
    add(batch.length - failed.length, failed)
  }
}

function records(rows: SourceRow[]): object[] {
  return rows.map(({ record }) => record)
}

function withFault(rows: SourceRow[], fault: string): SourceRow[] {
  return rows.map((row) => ({ ...row, faults: [fault] }))
}

// `[3].email` and `users[3].email` both name row 3 of what was sent.
function faultsByIndex(error: unknown): Map<number, string> {
  const faults = new Map<number, string>()
  if (!(error instanceof ConflictError || error instanceof InvalidInputError)) return faults
  for (const { field, message } of error.fields) {
    const [, index, name] = /\[(\d+)\]\.?(.*)$/.exec(field) ?? []
    if (index === undefined) continue
    const before = faults.get(Number(index))
    const fault = `${name}: ${message}`
    faults.set(Number(index), before === undefined ? fault : `${before}; ${fault}`)
  }
  return faults
}

function refusal(error: unknown): string {
  if (!(error instanceof ServiceError) || error.fields.length === 0) return wordsOf(error)
  return error.fields.map(({ field, message }) => `${field}: ${message}`).join('; ')
}
