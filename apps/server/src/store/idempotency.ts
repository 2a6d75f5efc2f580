import { createHash } from 'node:crypto'
import { hashRaw } from '@node-rs/argon2'
import type { Database, Transaction } from '@resource/database'
import { Problem } from '@resource/openapi'
import { ARGON2ID } from '../password.ts'

const KEPT_MS = 24 * 60 * 60 * 1000

/**
 * Runs a write in one transaction, once per idempotency key: the first answer is stored with the write itself and
 * given again to every repeat within 24 hours. A write that fails stores nothing, so that it can be tried again.
 *
 * @param procedure keys of different procedures do not meet
 * @param input the procedure's input; a repeat must have the same
 * @throws Problem 409 when the key was used with another input
 */
export async function writeOnce<Answer>(
  database: Database,
  procedure: string,
  { idempotency_key: key, ...input }: { idempotency_key?: string | undefined },
  work: (tx: Transaction) => Promise<Answer>,
): Promise<Answer> {
  if (key === undefined) return database.write(work)
  const request = await fingerprint(`${procedure} ${key}`, JSON.stringify(input))
  return database.write(async (tx) => {
    const where = { procedure_key: { procedure, key } }
    const now = new Date()
    const first = await tx.idempotencyKey.findUnique({ where })
    if (first !== null && first.created_at.getTime() > now.getTime() - KEPT_MS) {
      if (first.fingerprint === request) return JSON.parse(first.answer) as Answer
      throw new Problem(409, 'Idempotency-Key was used with another request; a new request needs a new key')
    }
    const answer = await work(tx)
    const stored = { fingerprint: request, answer: JSON.stringify(answer), created_at: now }
    await tx.idempotencyKey.upsert({ where, create: { procedure, key, ...stored }, update: stored })
    return answer
  })
}

/** Drops the answers that are too old to be given again. */
export async function dropOldAnswers(database: Database): Promise<void> {
  const created_at = { lte: new Date(Date.now() - KEPT_MS) }
  await database.write((tx) => tx.idempotencyKey.deleteMany({ where: { created_at } }))
}

// A plain hash of a request with a password in it would let whoever reads the table try passwords fast. Such requests
// get the password's own hash, salted by the key, which each repeat finds again.
async function fingerprint(salt: string, request: string): Promise<string> {
  if (!request.includes('"password":')) return createHash('sha256').update(request).digest('base64')
  const bytes = createHash('sha256').update(salt).digest().subarray(0, 16)
  return (await hashRaw(request, { ...ARGON2ID, salt: bytes })).toString('base64')
}
