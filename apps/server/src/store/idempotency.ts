import { createHash } from 'node:crypto'
import { factsOf, shapeOf } from '@resource/contract/schema'
import type { Database, IdempotencyKey } from '@resource/database'
import { ApiError } from '@resource/openapi'
import type { z } from 'zod'
import { ANONYMOUS } from '../access/caller.ts'
import { enqueueHash } from '../passwords/hash-queue.ts'
import { createSteadyClock, type SteadyClock } from '../process/steady-clock.ts'
import type { Context } from './context.ts'

const RETENTION_MS = 24 * 60 * 60 * 1000
// On SQLite this blocks other requests for a few milliseconds.
const BATCH_SIZE = 500

let replays = 0

/** The number of responses that this process has replayed. */
export function replayCount(): number {
  return replays
}

/** Deletes the keys whose response is too old to be replayed, in small batches so that other writes can run in between. */
export async function deleteExpiredKeys(database: Database): Promise<void> {
  const where = { created_at: { lte: await expiryOf(database) } }
  let deleted: number
  do {
    deleted = await database.write((tx) => tx.idempotencyKeys.deleteAll(where, BATCH_SIZE))
  } while (deleted === BATCH_SIZE)
}

/** The scope of a key: other callers must neither get a caller's response nor take its key first. */
export function scopeOf(procedure: string, { caller }: Context): string {
  return caller === ANONYMOUS ? procedure : `${procedure} ${caller.name}`
}

const clocks = new WeakMap<Database, SteadyClock>()

/**
 * The time at which the youngest of the expired keys were stored. A clock that is set ahead would make keys expire too early,
 * and a repeated request would be carried out twice. After a start, time is counted from the newest audit entry: a clock that
 * was set ahead before the start cannot be told from a pause, and after a pause keys may well be replayed for longer.
 */
export async function expiryOf(database: Database): Promise<Date> {
  let clock = clocks.get(database)
  if (clock === undefined) {
    const order = { column: 'id', descending: true } as const
    const [newest] = await database.read.auditEntries.page({ columns: ['id', 'at'], where: {}, order, take: 1 })
    clock = createSteadyClock(RETENTION_MS, newest?.at.getTime())
    clocks.set(database, clock)
  }
  return new Date(clock() - RETENTION_MS)
}

/** Whether a stored response is not expired. */
export function isReplayable(first: IdempotencyKey | undefined, expiry: Date): first is IdempotencyKey {
  return first !== undefined && first.created_at > expiry
}

/**
 * Returns the stored response.
 *
 * @param print the fingerprint of the request
 * @param schema that of the response
 * @throws ApiError 409 if the key was used with a different input
 */
export function replay<Result>(first: IdempotencyKey, print: string, { onReplay }: Context, schema: z.ZodType): Result {
  if (first.fingerprint !== print) {
    throw new ApiError(409, 'Idempotency-Key was used with another request; a new request needs a new key', {
      reason: 'idempotency_key_reused',
    })
  }
  replays++
  onReplay?.(first.request_id)
  return completed(schema, JSON.parse(first.answer)) as Result
}

/** @throws ApiError 409 if the replayed response of another version of the service does not fit this one */
export function checkReplayed(schema: z.ZodType, answer: unknown): void {
  if (schema.safeParse(answer).success) return
  const message = 'An earlier version of the service has carried out this request; its answer does not fit this version'
  throw new ApiError(409, message, { reason: 'answered_by_earlier_version' })
}

/** Adds the fields that the version of the service that stored the response did not have, if they can be null. */
function completed(schema: z.ZodType, value: unknown): unknown {
  return mapped(schema, value, (fields, object) => {
    const added = Object.keys(fields).filter(
      (name) => !(name in object) && factsOf(fields[name] as z.ZodType).isNullable,
    )
    return { ...object, ...Object.fromEntries(added.map((name) => [name, null])) }
  })
}

/**
 * The text of a request for its fingerprint, without fields that have their default: a version of the service with further
 * fields has the same text.
 */
export function textOf(schema: z.ZodType, request: object): string {
  const text = mapped(schema, request, (fields, object) => {
    const isDefault = ([name, value]: [string, unknown]) =>
      fields[name] !== undefined && JSON.stringify(factsOf(fields[name]).initial) === JSON.stringify(value)
    return Object.fromEntries(Object.entries(object).filter((entry) => !isDefault(entry)))
  })
  return JSON.stringify(text)
}

/** Changes the objects in a value, inner ones first. */
function mapped(
  schema: z.ZodType,
  value: unknown,
  change: (fields: Record<string, z.ZodType>, object: Record<string, unknown>) => object,
): unknown {
  if (Array.isArray(value)) {
    const { element } = factsOf(schema)
    return element === undefined ? value : value.map((one) => mapped(element, one, change))
  }
  // Not an error in place of an invalid row.
  if (value?.constructor !== Object) return value
  const fields = shapeOf(schema)
  const inner = Object.entries(value).map(([name, one]) => [
    name,
    fields[name] ? mapped(fields[name], one, change) : one,
  ])
  return change(fields, Object.fromEntries(inner))
}

/**
 * The fingerprint of a request. With a fast hash of a request that contains a password, anyone who reads the table could guess
 * passwords quickly. Such a request is hashed with argon2id, with a salt derived from the key, so that retries give the same
 * fingerprint.
 */
export async function fingerprint(request: string, secret?: { salt: string; caller: string }): Promise<string> {
  if (secret === undefined) return createHash('sha256').update(request).digest('base64')
  const salt = createHash('sha256').update(secret.salt).digest().subarray(0, 16)
  return enqueueHash(request, { caller: secret.caller, salt })
}
