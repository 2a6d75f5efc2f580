import { contract, type Implementation } from '@resource/contract'
import {
  type Database,
  type DatabaseCaller,
  type IdempotencyKey,
  type RecordedChange,
  type Tables,
  type TablesAndPrisma,
  type WriteControl,
  workOf,
} from '@resource/database'
import { ApiError } from '@resource/openapi'
import type { Procedure, Run as RunOf } from '@resource/openapi/contract'
import { queueKey } from '../access/caller.ts'
import { auditContext } from './audit-context.ts'
import type { AuditedTables } from './audited-tables.ts'
import type { Context, MutationContext, Once, Services, Write, WriteOptions } from './context.ts'
import { effectOf } from './effect.ts'
import { checkReplayed, expiryOf, fingerprint, isReplayable, replay, scopeOf, textOf } from './idempotency.ts'
import { referenced } from './refusals.ts'
import { tablesIn } from './scopes.ts'

// A write of more records takes too long to share a commit on SQLite, or to run beside others of its caller on PostgreSQL.
const MAX_SMALL = 50

/** The target of writes. */
export interface Target {
  database: Database
  /** The tables whose changes the audit log records. */
  audited: AuditedTables
}

type Bound<N extends keyof Services> = Pick<Implementation<Context>, N>
type Run<C extends Context = Context> = RunOf<object, C, unknown>

/**
 * Adds `write` to the context of each mutation, bound to the procedure's name, its input and its caller. Calls wait for the
 * database in the queue of their caller, and the quota pays for long reads and for the rows to write.
 */
export function withWrites<N extends keyof Services>(target: Target, services: Pick<Services, N>): Bound<N> {
  const isQueued = () => (target.database.connections?.().waiting ?? 0) > 0
  const made = Object.keys(services).map((noun) => {
    const service = services[noun as N] as Record<string, Run<MutationContext> | undefined>
    const { procedures, lookup }: { procedures: object; lookup?: string | undefined } = contract[noun as N]
    const runs = Object.entries(procedures as Record<string, Procedure>).map(([verb, procedure]) => {
      const run = service[verb]
      // `implement` reports a missing function.
      if (run === undefined) return [verb, run]
      if (procedure.type === 'query') {
        const reading: Run = (input, context, shown, open) => {
          const read = () => run(input, context as MutationContext, shown, open)
          // To name the caller takes a tenth of the time of a read of one record, which rarely waits.
          return verb === lookup && !isQueued() ? read() : workOf(new CallOf(context), read)
        }
        return [verb, reading]
      }
      const name = `${noun}.${verb}`
      const writing: Run = (input, context) => {
        const rows = rowsIn(input)
        if (rows > 0) context.spend?.({ rows })
        const settle = settling(target, context)
        const once: Once = context.once ?? { procedure: name, schema: procedure.input, input, hasWritten: false }
        const write: Write = async (work, options) => {
          if (once.hasWritten) throw new Error(`${once.procedure} writes more than once: a call is one transaction`)
          once.hasWritten = true
          try {
            return await writeOnce(target, context, { name, output: procedure.output }, once, work, settle, options)
          } catch (error) {
            throw await referenced(error, noun, (input as { id?: number }).id, context.read)
          }
        }
        const running = workOf(new CallOf(context), () => run(input, { ...context, once, write }))
        if (settle === undefined && once.input.idempotency_key === undefined) return running
        return running.then(async (output) => {
          if (!once.hasWritten) await settle?.([])
          if (once.isReplayed) checkReplayed(procedure.output, output)
          return output
        })
      }
      return [verb, writing]
    })
    return [noun, Object.fromEntries(runs)]
  })
  return Object.fromEntries(made)
}

type Settle = (changes: readonly RecordedChange[], tx?: Tables) => Promise<void>

/** What looks at the changes of a write before its transaction ends; undefined if nothing does. */
function settling({ audited }: Target, { ifEffect, settle }: Context): Settle | undefined {
  if (ifEffect === undefined && settle === undefined) return undefined
  return async (changes, tx) => {
    const effect = await effectOf(audited, changes)
    if (ifEffect !== undefined && effect.fingerprint !== ifEffect) {
      throw new ApiError(412, 'The write would no longer do what its preview showed; preview it again', {
        reason: 'effect_changed',
      })
    }
    await settle?.(effect, tx)
  }
}

/** The caller of a call, who pays for its long reads. */
class CallOf implements DatabaseCaller {
  readonly #context: Context
  #name: string | undefined

  constructor(context: Context) {
    this.#context = context
  }

  get name() {
    this.#name ??= queueKey(this.#context)
    return this.#name
  }

  onLong(readMs: number) {
    this.#context.spend?.({ readMs })
  }

  onRefused() {
    this.#context.refuseNext?.(this.name)
  }
}

/** The number of records in the input of a write of many. A filter by a list of values has none. */
function rowsIn(input: object): number {
  return Object.values(input).reduce((sum, value) => (isRows(value) ? sum + value.length : sum), 0)
}

function isRows(value: unknown): value is object[] {
  return Array.isArray(value) && typeof value[0] === 'object'
}

/**
 * Runs a write in one transaction, once per idempotency key. The first response is stored in the same transaction and
 * replayed to every retry within 24 hours. A failed write stores nothing, so it can be retried. The transaction also
 * contains the audit entries of its changes.
 *
 * @param context the caller's context
 * @param procedure its name and its output
 * @param once the call that the idempotency key is of; it is scoped to the procedure and to the caller, and a retry must send the
 * same input
 * @param work gets the transaction and the result of `prepare`
 * @param settle gets the changes of `work`; a replay has none
 * @throws ApiError 409 if the key was used with a different input
 */
async function writeOnce<Result, Prepared = undefined>(
  { database, audited }: Target,
  context: Context,
  { name, output }: Pick<Procedure, 'output'> & { name: string },
  once: Once,
  work: (tx: TablesAndPrisma, prepared: Prepared, attempt: WriteControl['attempt']) => Promise<Result>,
  settle: Settle | undefined,
  { isSecret = false, autocommit = false, countOf = () => 1, reverses, prepare }: WriteOptions<Prepared> = {},
): Promise<Result> {
  const { procedure, schema } = once
  const { idempotency_key: key, ...request } = once.input
  const records = settle !== undefined
  const { scopes } = context
  const audit = auditContext(name, context, audited, reverses)
  const common = { audit, caller: queueKey(context), records, isDryRun: context.isDryRun }
  const perform = (tx: TablesAndPrisma, prepared: Prepared, { attempt, changes }: WriteControl): Promise<Result> => {
    const working = work(scopes === undefined ? tx : tablesIn(scopes, tx), prepared, attempt)
    if (settle === undefined) return working
    return working.then(async (result) => {
      await settle(changes, tx)
      return result
    })
  }
  if (key === undefined) {
    const prepared = prepare === undefined ? (undefined as Prepared) : await prepare(false)
    const isOneStatement = autocommit && settle === undefined && scopes === undefined
    const options = { ...common, isLarge: countOf(prepared) > MAX_SMALL, autocommit: isOneStatement }
    return database.write((tx, control) => perform(tx, prepared, control), options)
  }
  const scope = scopeOf(procedure, context)
  const print = await fingerprint(
    textOf(schema, request),
    isSecret ? { salt: `${scope} ${key}`, caller: common.caller } : undefined,
  )
  const replayed = (first: IdempotencyKey) => {
    once.isReplayed = true
    return replay<Result>(first, print, context, output)
  }
  const expiry = await expiryOf(database)
  const replayedIfKnown = async () => {
    const first = await database.read.idempotencyKeys.find({ procedure: scope, key })
    if (!isReplayable(first, expiry)) return undefined
    // Runs as a write, because a write on SQLite first waits until another process's commit is on disk.
    return database.write(async () => replayed(first), { caller: common.caller, autocommit: true })
  }
  const early = await replayedIfKnown()
  if (early !== undefined) return early
  let prepared = undefined as Prepared
  try {
    if (prepare !== undefined) prepared = await prepare(isSecret)
  } catch (error) {
    // A concurrent request with the same key may have ended since, and be the reason.
    const late = await replayedIfKnown()
    if (late !== undefined) return late
    throw error
  }
  const store = async (tx: TablesAndPrisma, control: WriteControl): Promise<Result> => {
    // A concurrent request with the same key may have been first.
    const first = await tx.idempotencyKeys.find({ procedure: scope, key })
    if (isReplayable(first, expiry)) return replayed(first)
    if (first !== undefined) await tx.idempotencyKeys.deleteAll({ procedure: scope, key })
    const result = await perform(tx, prepared, control)
    const create = {
      procedure: scope,
      key,
      fingerprint: print,
      answer: JSON.stringify(result),
      request_id: context.requestId ?? null,
      created_at: new Date(),
    }
    await tx.idempotencyKeys.write([{ create }])
    return result
  }
  return database.write(store, { ...common, isLarge: countOf(prepared) > MAX_SMALL, lockKey: `${scope} ${key}` })
}
