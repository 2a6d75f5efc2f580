import { createHmac } from 'node:crypto'
import { type Client, ServiceError } from '@resource/client'
import type { onInterrupt } from '../interrupt.ts'
import { call, type JsonObject, KEY, proceduresOf } from '../service.ts'
import { patiently } from './offline.ts'
import type { Chunk } from './rows/chunks.ts'
import type { RemainingRow } from './rows/remaining-rows.ts'
import type { Row } from './rows/row.ts'
import { MAX_IN_FLIGHT_AGE_MS } from './start.ts'
import type { ImportState } from './state.ts'

export interface SendContext {
  client: Client
  caller: string
  state: ImportState
  save: () => void
  interrupt: ReturnType<typeof onInterrupt>
  /** How long to wait for an unreachable service. */
  waitMs: number
}

interface Sent {
  created: number
  updated: number
  unchanged: number
  failed: RemainingRow[]
}

/** Sends the valid rows of a chunk. The others fail, and so do those that the service rejects. */
export async function sendChunk(context: SendContext, { start, rows }: Chunk): Promise<Sent> {
  const failed = (refused: Map<number, string>) =>
    rows.flatMap((row, n): RemainingRow[] => {
      const reason = row.error ?? refused.get(n)
      return reason === undefined ? [] : [{ row, reason }]
    })
  const { state } = context
  const isPartialPossible = proceduresOf(state.type).updateMany !== undefined
  for (;;) {
    const refused = new Map(state.refused)
    const sent = [...rows.keys()].filter((n) => rows[n]?.record !== undefined && !refused.has(n))
    if (sent.length === 0) return { created: 0, updated: 0, unchanged: 0, failed: failed(refused) }
    const records = sent.map((n) => (rows[n] as Row).record as JsonObject)
    // The file's digest, the position and the number of rejected rows determine the records: same key, same request.
    const key = createHmac('sha256', state.importId).update(`${state.digest} ${start} ${refused.size}`).digest('hex')
    try {
      if (state.mode.action === 'create' && !(refused.size > 0 && isPartialPossible)) {
        await send(context, 'createMany', records, { [KEY]: key })
        return { created: sent.length, updated: 0, unchanged: 0, failed: failed(refused) }
      }
      const { results } = await send(context, 'updateMany', records, {
        [KEY]: key,
        key: state.mode.key,
        create: state.mode.action !== 'update',
        partial: true,
      })
      const outcomes = (results as Result[]).map((result, n) => ({ ...result, index: sent[n] as number }))
      for (const { index, error } of outcomes) if (error !== undefined) refused.set(index, error)
      const created = outcomes.filter(({ status }) => status === 201).length
      const unchanged = outcomes.filter(({ changed }) => changed === false).length
      const updated = outcomes.filter(({ status }) => status === 200).length - unchanged
      return { created, updated, unchanged, failed: failed(refused) }
    } catch (error) {
      const errors = error instanceof ServiceError ? [...error.faultsIn(state.type)] : []
      if (errors.length === 0) throw error
      // All or none: the rest is sent again without the rejected rows. That names every further row that cannot be stored, where
      // an error of `createMany` names the first one whose value is taken.
      for (const [index, reason] of errors) state.refused.push([sent[index] as number, reason])
    }
  }
}

/** The outcome of one row of `updateMany`. */
interface Result {
  status: number
  changed?: boolean
  error?: string
}

async function send(
  { client, caller, state, save, interrupt, waitMs }: SendContext,
  verb: string,
  records: JsonObject[],
  options: JsonObject,
): Promise<JsonObject> {
  const input = { [state.type]: records, ...options }
  // A chunk that may be stored keeps the time and the caller of its first attempt.
  let isUncertain = state.inFlight
  if (!isUncertain) Object.assign(state, { inFlight: true, at: Date.now(), caller })
  save()
  const attempt = () =>
    call(client, state.type, verb, input, { signal: interrupt.signal }).catch((error) => {
      isUncertain ||= !isRefusal(error)
      throw error
    })
  try {
    const lastMs = state.at + MAX_IN_FLIGHT_AGE_MS - Date.now()
    return await patiently(attempt, Math.min(waitMs, lastMs), interrupt.stop)
  } catch (error) {
    state.inFlight = isUncertain
    throw error
  }
}

/** Whether an error is an answer of the service that nothing was stored. */
function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && error.status >= 400 && error.status < 500
}
