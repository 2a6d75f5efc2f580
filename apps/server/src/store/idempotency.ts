import { createHash } from 'node:crypto'
import type { AuditContext, Database, IdempotencyKey, TablesAndPrisma, WriteControl } from '@resource/database'
import { ApiError } from '@resource/openapi'
import { ANONYMOUS, queueKey } from '../access/caller.ts'
import { enqueueHash } from '../passwords/hash-queue.ts'
import { createSteadyClock, type SteadyClock } from '../process/steady-clock.ts'
import { auditContext } from './audit-context.ts'
import type { Context, WriteOptions } from './context.ts'

const RETENTION_MS = 24 * 60 * 60 * 1000
// On SQLite this blocks other requests for a few milliseconds.
const BATCH_SIZE = 500

let replays = 0

/** The target of writes. */
export interface Target {
  database: Database
  /** The tables whose changes the audit log records. */
  audited: AuditContext['tables']
}

/**
 * Runs a write in one transaction, once per idempotency key. The first response is stored in the same transaction and
 * replayed to every retry within 24 hours. A failed write stores nothing, so it can be retried. The transaction also
 * contains the audit entries of its changes.
 *
 * @param context the caller's context
 * @param procedure keys are scoped to the procedure and to the caller
 * @param input the procedure's input; a retry must send the same
 * @param work gets the transaction and the result of `prepare`
 * @throws ApiError 409 if the key was used with a different input
 */
export async function writeOnce<Result, Prepared = undefined>(
  { database, audited }: Target,
  context: Context,
  procedure: string,
  { idempotency_key: key, ...request }: { idempotency_key?: string | undefined },
  work: (tx: TablesAndPrisma, prepared: Prepared, attempt: WriteControl['attempt']) => Promise<Result>,
  { isSecret = false, autocommit = false, prepare = async () => undefined as Prepared }: WriteOptions<Prepared> = {},
): Promise<Result> {
  const audit = auditContext(procedure, context, audited)
  if (key === undefined) {
    const prepared = await prepare(false)
    return database.write((tx, { attempt }) => work(tx, prepared, attempt), { autocommit, audit })
  }
  const scope = scopeOf(procedure, context)
  const print = await fingerprint(
    JSON.stringify(request),
    isSecret ? { salt: `${scope} ${key}`, caller: queueKey(context) } : undefined,
  )
  const expiry = await expiryOf(database)
  const early = await database.read.idempotencyKeys.find({ procedure: scope, key })
  // Runs as a write, because a write on SQLite first waits until another process's commit is on disk.
  if (isReplayable(early, expiry))
    return database.write(async () => replay(early, print, context), { autocommit: true })
  const prepared = await prepare(isSecret)
  const store = async (tx: TablesAndPrisma, { attempt }: WriteControl): Promise<Result> => {
    // A concurrent request with the same key may have been first.
    const first = await tx.idempotencyKeys.find({ procedure: scope, key })
    if (isReplayable(first, expiry)) return replay(first, print, context)
    if (first !== undefined) await tx.idempotencyKeys.deleteAll({ procedure: scope, key })
    const result = await work(tx, prepared, attempt)
    await tx.idempotencyKeys.insert({
      procedure: scope,
      key,
      fingerprint: print,
      answer: JSON.stringify(result),
      created_at: new Date(),
    })
    return result
  }
  return database.write(store, { lockKey: `${scope} ${key}`, audit })
}

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

// The scope of a key: other callers must neither get a caller's response nor take its key first.
function scopeOf(procedure: string, { caller }: Context): string {
  return caller === ANONYMOUS ? procedure : `${procedure} ${caller.name}`
}

const clocks = new WeakMap<Database, SteadyClock>()

/**
 * The time at which the youngest of the expired keys were stored. A clock that is set ahead would make keys expire too early,
 * and a repeated request would be carried out twice. After a start, time is counted from the newest audit entry: a clock that
 * was set ahead before the start cannot be told from a pause, and after a pause keys may well be replayed for longer.
 */
async function expiryOf(database: Database): Promise<Date> {
  let clock = clocks.get(database)
  if (clock === undefined) {
    const order = { column: 'id', descending: true } as const
    const [newest] = await database.read.auditEntries.page({ columns: ['id', 'at'], where: {}, order, take: 1 })
    clock = createSteadyClock(RETENTION_MS, newest?.at.getTime())
    clocks.set(database, clock)
  }
  return new Date(clock() - RETENTION_MS)
}

function isReplayable(first: IdempotencyKey | undefined, expiry: Date): first is IdempotencyKey {
  return first !== undefined && first.created_at > expiry
}

function replay<Result>(first: IdempotencyKey, print: string, { onReplay }: Context): Result {
  if (first.fingerprint !== print) {
    throw new ApiError(409, 'Idempotency-Key was used with another request; a new request needs a new key', {
      reason: 'idempotency_key_reused',
    })
  }
  replays++
  onReplay?.()
  return JSON.parse(first.answer)
}

// With a fast hash of a request that contains a password, anyone who reads the table could guess passwords quickly. Such a
// request is hashed with argon2id, with a salt derived from the key, so that retries give the same fingerprint.
async function fingerprint(request: string, secret?: { salt: string; caller: string }): Promise<string> {
  if (secret === undefined) return createHash('sha256').update(request).digest('base64')
  const salt = createHash('sha256').update(secret.salt).digest().subarray(0, 16)
  return enqueueHash(request, { caller: secret.caller, salt })
}
