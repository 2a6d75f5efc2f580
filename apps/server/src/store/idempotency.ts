import { createHash } from 'node:crypto'
import type { AuditContext, Database, IdempotencyKey, Tables } from '@resource/database'
import { ApiError } from '@resource/openapi'
import { ANONYMOUS, turnOf } from '../access/caller.ts'
import { hashInTurn } from '../passwords/hashing.ts'
import { auditContext } from './audit-context.ts'
import type { Context, WriteOptions } from './context.ts'

const KEPT_MS = 24 * 60 * 60 * 1000

let replays = 0

/** What writes go to. */
export interface Target {
  database: Database
  /** The tables whose changes the audit log records. */
  audited: AuditContext['tables']
}

/**
 * Runs a write in one transaction, once per idempotency key: the first answer is stored with the write itself and
 * given again to every repeat within 24 hours. A write that fails stores nothing, so that it can be tried again. What it
 * changes leaves its entries in the audit log, in the same transaction.
 *
 * @param context whose write it is
 * @param procedure keys of different procedures, and of different callers, do not meet
 * @param input the procedure's input; a repeat must have the same
 * @param work is given the transaction, and what `prepare` made
 * @throws ApiError 409 when the key was used with another input
 */
export async function writeOnce<Answer, Prepared = undefined>(
  { database, audited }: Target,
  context: Context,
  procedure: string,
  { idempotency_key: key, ...request }: { idempotency_key?: string | undefined },
  work: (tx: Tables, prepared: Prepared) => Promise<Answer>,
  { isSecret = false, autocommit = false, prepare = async () => undefined as Prepared }: WriteOptions<Prepared> = {},
): Promise<Answer> {
  const audit = auditContext(procedure, context, audited)
  if (key === undefined) {
    const prepared = await prepare(false)
    return database.write((tx) => work(tx, prepared), { autocommit, audit })
  }
  const scope = scopeOf(procedure, context)
  const print = await fingerprint(
    JSON.stringify(request),
    isSecret ? { salt: `${scope} ${key}`, caller: turnOf(context) } : undefined,
  )
  const early = await database.read.idempotencyKeys.find({ procedure: scope, key })
  // As a write: one of SQLite waits until what another process has committed is on disk.
  if (isKept(early)) return database.write(async () => answerAgain(early, print), { autocommit: true })
  const prepared = await prepare(isSecret)
  const store = async (tx: Tables): Promise<Answer> => {
    // A twin may have been first meanwhile.
    const first = await tx.idempotencyKeys.find({ procedure: scope, key })
    if (isKept(first)) return answerAgain(first, print)
    if (first !== undefined) await tx.idempotencyKeys.deleteAll({ procedure: scope, key })
    const answer = await work(tx, prepared)
    await tx.idempotencyKeys.insert({
      procedure: scope,
      key,
      fingerprint: print,
      answer: JSON.stringify(answer),
      created_at: new Date(),
    })
    return answer
  }
  return database.write(store, { lockKey: `${scope} ${key}`, audit })
}

/** How many answers this process has given again. */
export function countReplays(): number {
  return replays
}

/** Drops the answers that are too old to be given again. */
export async function dropOldAnswers(database: Database): Promise<void> {
  const created_at = { lte: new Date(Date.now() - KEPT_MS) }
  await database.write((tx) => tx.idempotencyKeys.deleteAll({ created_at }))
}

// Under what a key is stored: strangers must neither get a caller's answer nor take the key before it.
function scopeOf(procedure: string, { caller }: Context): string {
  return caller === ANONYMOUS ? procedure : `${procedure} ${caller.name}`
}

function isKept(first: IdempotencyKey | undefined): first is IdempotencyKey {
  return first !== undefined && first.created_at.getTime() > Date.now() - KEPT_MS
}

function answerAgain<Answer>(first: IdempotencyKey, print: string): Answer {
  if (first.fingerprint !== print) {
    throw new ApiError(409, 'Idempotency-Key was used with another request; a new request needs a new key')
  }
  replays++
  return JSON.parse(first.answer)
}

// A plain hash of a request with a password in it would let whoever reads the table try passwords fast. Such a request
// gets the password's own hash, salted by its key, which each repeat finds again.
async function fingerprint(request: string, secret?: { salt: string; caller: string }): Promise<string> {
  if (secret === undefined) return createHash('sha256').update(request).digest('base64')
  const salt = createHash('sha256').update(secret.salt).digest().subarray(0, 16)
  return hashInTurn(request, { caller: secret.caller, salt })
}
