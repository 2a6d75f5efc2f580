import { createHash } from 'node:crypto'
import { type Batch, type Database, type RecordTable, type Tables, timestamp, type Where } from '@resource/database'
import { ApiError } from '@resource/openapi'
import type { Context, MutationContext } from './context.ts'
import { notFound } from './refusals.ts'
import type { Row, RowMapping, Values } from './row-mapping.ts'
import type { WriteRules } from './write-rules.ts'

const LIFETIME_MS = 10 * 60 * 1000
// A larger batch would hold the write lock of SQLite so long that other writes fail.
const MAX_RECORDS = 20_000
const SAMPLE = 5
// Between so many records other requests are served.
const RECORDS_PER_STEP = 200

interface BatchOptions {
  noun: string
  tableOf: (tables: Tables) => RecordTable<Row>
  /** Reads the matching records, outside of the transaction: on SQLite that would block all requests. */
  read: Tables
  rows: RowMapping
  rules: WriteRules
  /** @throws FieldError 403 if the caller may not carry out the action */
  check: (input: Values, context: Context) => void
  /** Converts an error of a write. */
  refused: (error: unknown) => Promise<unknown>
}

type Matching = { id: number; version: number }[]

interface BatchInput {
  action: 'update' | 'delete'
  filter: Values
  changes?: Values
}

/** The procedures that change or delete all matching records of a collection, after a preview. */
export function batchService({ noun, tableOf, read, rows, rules, check, refused }: BatchOptions) {
  const find = async (tables: Tables, id: number, { caller }: Context): Promise<Batch> => {
    const batch = await tables.batches.find({ id })
    const isVisible =
      batch?.resource === noun && batch.caller === caller.name && batch.expires_at.getTime() > Date.now()
    if (!isVisible) throw notFound('Batch')
    return batch
  }

  /** @param matching the ids of the records that matched at the preview, if known; the sample shows no others */
  const present = async (batch: Batch, tables: Tables, matching?: number[]) => {
    const { id, action, status, count, created_at, expires_at } = batch
    const filter = JSON.parse(batch.filter)
    const where = { ...rows.where(filter), ...(matching && { id: { in: matching.slice(0, SAMPLE) } }) } as Where<Row>
    const order = { column: 'id', descending: false } as const
    const sample = status === 'applied' ? [] : await tableOf(tables).page({ where, order, take: SAMPLE })
    return {
      id,
      action: action as 'update' | 'delete',
      status: status as 'pending' | 'applied',
      count,
      filter,
      ...(batch.changes !== null && { changes: JSON.parse(batch.changes) }),
      sample: sample.map((row) => rows.present(row)),
      created_at: timestamp(created_at),
      expires_at: timestamp(expires_at),
    }
  }

  return {
    createBatch: async (input: Values, context: MutationContext) => {
      check(input, context)
      const { action, filter, changes } = input as never as BatchInput
      const work = async (tx: Tables, matching: Matching) => {
        if (matching.length > MAX_RECORDS) {
          const limit = MAX_RECORDS.toLocaleString('en')
          throw new ApiError(400, `More than ${limit} ${noun} match: a batch takes at most ${limit}; add filters`)
        }
        await checkRecords(tableOf(tx), idsOf(matching), context)
        const created_at = new Date()
        const create = {
          resource: noun,
          caller: context.caller.name,
          action,
          filter: JSON.stringify(filter),
          changes: changes === undefined ? null : JSON.stringify(changes),
          fingerprint: fingerprint(matching),
          count: matching.length,
          status: 'pending',
          created_at,
          expires_at: new Date(created_at.getTime() + LIFETIME_MS),
        }
        const [{ after: batch }] = await tx.batches.write([{ create }])
        // Since they were read, other records may match, and these may no longer match.
        return present(batch, tx, idsOf(matching))
      }
      const prepare = () => tableOf(read).lock(rows.where(filter), MAX_RECORDS + 1)
      return context.write(work, { prepare })
    },

    getBatch: async ({ batch_id }: Values, context: Context) =>
      present(await find(context.read, batch_id as number, context), context.read),

    applyBatch: ({ batch_id }: Values, context: MutationContext) =>
      context.write(
        async (tx, found: Matching) => {
          const id = batch_id as number
          // PostgreSQL: another call that applies the batch has ended then.
          await tx.batches.lock({ id }, 1)
          const batch = await find(tx, id, context)
          const { action } = batch
          const input = JSON.parse(batch.changes ?? '{}')
          // A token of the caller may have had a higher role at the preview.
          check({ action, changes: input }, context)
          if (batch.status !== 'pending')
            throw new ApiError(409, 'The batch was already applied', { reason: 'already_applied' })
          const table = tableOf(tx)
          if (action === 'update') await table.lockFor([{ change: rows.changes(input, undefined) }])
          const matching = await table.lock({ id: { in: idsOf(found) } } as Where<Row>, found.length)
          if (fingerprint(matching) !== batch.fingerprint) {
            throw new ApiError(412, `The matching ${noun} have changed since the preview; create a new batch`, {
              reason: 'matches_changed',
            })
          }
          const ids = idsOf(matching)
          await checkRecords(table, ids, context)
          const change = rows.changes(input, undefined)
          const writes = ids.map((id) => (action === 'update' ? { id, change } : { id, delete: true as const }))
          await table.write(writes).catch(async (error) => {
            throw await refused(error)
          })
          const applying = { id: batch.id, versions: [batch.version], change: { status: 'applied' } }
          const [applied] = await tx.batches.write([applying])
          if (applied === undefined)
            throw new ApiError(409, 'The batch was already applied', { reason: 'already_applied' })
          return present(applied.after, tx)
        },
        {
          prepare: async () => {
            const { status, filter, count } = await find(read, batch_id as number, context)
            if (status === 'pending') context.spend?.({ rows: count })
            // A record that matches later is the same as one that matches after the batch was applied.
            return status === 'pending' ? tableOf(read).lock(rows.where(JSON.parse(filter)), count + 1) : []
          },
        },
      ),
  }

  /** @throws ApiError 403 if the caller may not change one of them */
  async function checkRecords(table: RecordTable<Row>, ids: number[], { caller }: Context): Promise<void> {
    if (!rules.dependOnRecord(caller)) return
    const order = { column: 'id', descending: false } as const
    for (let first = 0; first < ids.length; first += RECORDS_PER_STEP) {
      const where = { id: { in: ids.slice(first, first + RECORDS_PER_STEP) } } as Where<Row>
      const found = await table.page({ columns: ['id', ...rules.decisiveFields], where, order, take: RECORDS_PER_STEP })
      for (const row of found) rules.checkRecord(caller, row)
    }
  }
}

function idsOf(records: { id: number }[]): number[] {
  return records.map(({ id }) => id)
}

function fingerprint(matching: Matching): string {
  const hash = createHash('sha256')
  for (const { id, version } of matching) hash.update(`${id}:${version},`)
  return hash.digest('base64')
}

/** Deletes the batches that have expired. */
export async function deleteExpiredBatches(database: Database): Promise<void> {
  await database.write((tx) => tx.batches.deleteAll({ expires_at: { lte: new Date() } }))
}
