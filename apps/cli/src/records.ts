import type { Client } from '@resource/client'
import { type RowResult, rowError } from '@resource/import'
import type { Outcome } from './exit-codes.ts'
import { Failure, invalid, toFailure } from './failures.ts'
import type { Globals } from './globals.ts'
import { call, ID, type JsonObject, KEY, type Noun, pagesOf } from './procedures.ts'

/** Calls that are sent together; the client puts them into one request. */
const CALLS_AT_ONCE = 50
const ROWS_AT_ONCE = 1000
/** As many as a batch of the service matches. */
const MAX_RECORDS = 20_000

const OUTCOMES: Record<number, Outcome> = { 400: 'invalid', 403: 'denied', 404: 'not_found', 409: 'conflict' }

/** The records that a command has read or written, and those that failed. */
interface Done {
  records: JsonObject[]
  failed: { id: unknown; code: Outcome; message: string }[]
}

/** Reads the records with these ids. */
export async function readEach(client: Client, noun: Noun, ids: unknown[], globals: Globals): Promise<Done> {
  const done: Done = { records: [], failed: [] }
  for (let start = 0; start < ids.length; start += CALLS_AT_ONCE) {
    const group = ids.slice(start, start + CALLS_AT_ONCE)
    const results = await Promise.allSettled(group.map((id) => call(client, noun, 'get', { [ID]: id })))
    for (const [n, result] of results.entries()) {
      if (result.status === 'fulfilled') done.records.push(result.value)
      else {
        const { outcome, message } = toFailure(result.reason, globals)
        done.failed.push({ id: group[n], code: outcome, message })
      }
    }
  }
  return done
}

/** Reads the matching records. @throws Failure if there are too many */
export async function readMatching(client: Client, noun: Noun, filters: JsonObject): Promise<Done> {
  const records: JsonObject[] = []
  for await (const page of pagesOf(client, noun, filters)) {
    records.push(...(page[noun] as JsonObject[]))
    if (records.length > MAX_RECORDS)
      throw invalid(`More than ${MAX_RECORDS} ${noun} match: choose fewer with --filter`)
  }
  return { records, failed: [] }
}

/** Writes rows that fail or succeed one by one. */
export async function writeEach(
  client: Client,
  noun: Noun,
  verb: 'updateMany' | 'deleteMany',
  rows: JsonObject[],
  key?: unknown,
): Promise<Done> {
  const done: Done = { records: [], failed: [] }
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    const chunk = rows.slice(start, start + ROWS_AT_ONCE)
    const input = {
      [noun]: chunk,
      partial: true,
      ...(key !== undefined && { [KEY]: start === 0 ? key : `${key}-${start}` }),
    }
    const { results } = await call(client, noun, verb, input)
    for (const [n, result] of (results as (RowResult & { record?: JsonObject })[]).entries()) {
      const id = chunk[n]?.[ID]
      const code = OUTCOMES[result.status] ?? 'conflict'
      if (result.status < 300) done.records.push(result.record ?? { [ID]: id })
      else done.failed.push({ id, code, message: rowError(result) })
    }
  }
  return done
}

/** @throws Failure that names the records that failed */
export function checkDone({ records, failed }: Done): void {
  const [first] = failed
  if (first === undefined) return
  const isSame = records.length === 0 && failed.every(({ code }) => code === first.code)
  const lines = failed.map(({ id, message }) => `${id}: ${message}`)
  throw new Failure(isSame ? first.code : 'partial', lines.join('\n'), { records: failed })
}
