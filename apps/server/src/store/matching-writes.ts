import { calculated, decimalsOf, grouped, MAX_MATCHING, MAX_PREVIEWED } from '@resource/contract'
import { shapeOf } from '@resource/contract/schema'
import {
  createPacer,
  type Range,
  type RecordTable,
  type RowWrite,
  type TablesAndPrisma,
  type Where,
  type Written,
} from '@resource/database'
import { ApiError, FieldError } from '@resource/openapi'
import type { z } from 'zod'
import type { MutationContext } from './context.ts'
import { type CheckContext, checkChange, isCompleted, writeCompleted } from './record-rules.ts'
import type { WrittenCollection } from './record-writes.ts'
import { ofRecord, referenced } from './refusals.ts'
import type { Row, Values } from './row-mapping.ts'

/** How all matching records change. */
interface Changes {
  /** The fields that get the same value in all of them. */
  set: Values
  numbers: NumberChange[]
}

/** The change of a number of each record. */
interface NumberChange {
  field: string
  /** Its path in the input. */
  path: string[]
  schema: z.ZodType
  next: (value: number) => number
}

type Found = { id: number; version: number }[]

/**
 * Reads the input `changes`: `set`, `add` and `multiply`.
 *
 * @param schema that of the input
 */
export function readChanges(
  { set = {}, ...calculations }: Record<string, Values | undefined>,
  schema: z.ZodType,
): Changes {
  const fields = shapeOf(shapeOf(schema).set as z.ZodType)
  const numbers = Object.entries(calculations).flatMap(([how, amounts = {}]) =>
    Object.entries(amounts).flatMap(([field, amount]): NumberChange[] => {
      if (typeof amount !== 'number') return []
      const schema = fields[field] as z.ZodType
      const decimals = decimalsOf(schema)
      const change = how === 'add' ? { add: amount } : { multiply: amount }
      return [{ field, path: ['changes', how, field], schema, next: (value) => calculated(value, change, decimals) }]
    }),
  )
  return { set, numbers }
}

/** More records match than one write may change: a preview divides them. */
export class ManyMatch extends ApiError {
  /** In ascending order. */
  readonly ids: number[]

  constructor(noun: string, found: Found) {
    super(400, `More than ${grouped(MAX_MATCHING)} ${noun} match, too many for one write; add filters`)
    this.ids = found.map(({ id }) => id)
  }
}

/** The matching records in the order of their ids, in pages: at least one more than `max` if more match. */
async function search(table: RecordTable<Row>, where: Where<Row>, max: number): Promise<Found> {
  const found: Found = []
  for (;;) {
    const after = found.at(-1)?.id
    const rest = after === undefined ? where : { ...where, id: { ...(where.id as Range<number>), gt: after } }
    const page = await table.lock(rest as Where<Row>, MAX_MATCHING + 1)
    for (const each of page) found.push(each)
    if (page.length <= MAX_MATCHING || found.length > max) return found
  }
}

/**
 * Changes or deletes all matching records in one transaction: all or none. They are searched before it, because on SQLite the
 * search would block all other writes. Records that no longer match in the transaction are left out.
 *
 * @param changes undefined to delete
 * @param answer makes the response from the number of matching records and those written
 * @param max how many records it may write
 * @throws ApiError 400 if too many records match; 400, 403 or 409 if one of them cannot be written
 */
export async function writeMatching<T>(
  collection: WrittenCollection,
  context: MutationContext,
  where: Where<Row>,
  changes: Changes | undefined,
  answer: (matched: number, written: Written<Row>[]) => T,
  max = MAX_MATCHING,
): Promise<T> {
  const { noun, tableOf, rows } = collection
  const { read } = context
  if (changes !== undefined) await rows.check(changes.set)
  const prepare = async () => {
    const isPreview = context.settle !== undefined
    const most = isPreview ? MAX_PREVIEWED : max
    const found = await search(tableOf(read), where, most)
    if (found.length > most) {
      const many = grouped(most)
      const [rule, facts] = isPreview
        ? [`a preview shows at most ${many}; add filters`, {}]
        : [`a request writes at most ${many}. Preview it and send its steps, or add filters`, { reason: 'too_many' }]
      throw new ApiError(400, `More than ${many} ${noun} match: ${rule}`, facts)
    }
    if (isPreview && found.length > MAX_MATCHING) throw new ManyMatch(noun, found)
    context.spend?.({ rows: found.length })
    return found
  }
  const work = async (tx: TablesAndPrisma, found: Found) => {
    const table = tableOf(tx)
    if (changes !== undefined) await table.lockFor([{ change: rows.changes(changes.set, undefined) }])
    const use = changes === undefined ? 'delete' : undefined
    const ids = await stillMatching(collection, table, where, found, use)
    const writes =
      changes === undefined
        ? ids.map((id) => ({ id, delete: true as const }))
        : await changesOf(collection, table, ids, changes)
    const writing = { caller: context.caller, tx }
    const refusedAs = (error: unknown, index: number) => ofRow(error, collection, ids[index] as number)
    const stored = isCompleted(collection)
      ? writeCompleted(collection, table, writes, writing, refusedAs)
      : table.write(writes)
    const all = await stored.catch(async (error) => {
      throw rows.refused(await referenced(error, noun, undefined, read))
    })
    const written = all.flatMap((row) => row ?? [])
    await checkWritten(collection, writing, written, changes)
    return answer(ids.length, written)
  }
  return context.write(work, { prepare, countOf: (found) => found.length })
}

/** Locks the records and returns the ids of those that still match: only a record with another version may not. */
async function stillMatching(
  { rows }: WrittenCollection,
  table: RecordTable<Row>,
  where: Where<Row>,
  found: Found,
  use: 'delete' | undefined,
): Promise<number[]> {
  const versions = new Map(found.map(({ id, version }) => [id, version]))
  const locked = await table.lock({ id: { in: [...versions.keys()] } } as Where<Row>, found.length, use)
  const changed = locked.flatMap(({ id, version }) => (versions.get(id) === version ? [] : [id]))
  if (changed.length === 0) return locked.map(({ id }) => id)
  const matching = new Set((await table.lock(rows.among(where, changed), changed.length, use)).map(({ id }) => id))
  const isLost = new Set(changed.filter((id) => !matching.has(id)))
  return locked.flatMap(({ id }) => (isLost.has(id) ? [] : [id]))
}

/** The changes of the locked records. A record without a number to change stays as it is. */
async function changesOf(
  { one, rows }: WrittenCollection,
  table: RecordTable<Row>,
  ids: number[],
  { set, numbers }: Changes,
): Promise<RowWrite<Row>[]> {
  if (numbers.length === 0) {
    const change = rows.changes(set, undefined)
    return ids.map((id) => ({ id, change }))
  }
  const columns = ['id', ...numbers.map(({ field }) => field)]
  const order = { column: 'id', descending: false } as const
  const stored = await table.page({ columns, where: { id: { in: ids } } as Where<Row>, order, take: ids.length })
  const writes: RowWrite<Row>[] = []
  const pace = createPacer()
  for (const row of stored) {
    await pace()
    const id = row.id as number
    const fields: Values = { ...set }
    for (const { field, path, schema, next } of numbers) {
      const value = row[field]
      if (typeof value !== 'number') continue
      const parsed = schema.safeParse(next(value))
      if (!parsed.success) {
        const [issue] = parsed.error.issues
        throw new FieldError(400, [{ path, message: `${issue?.message}, and would be ${next(value)} in ${one} ${id}` }])
      }
      fields[field] = parsed.data
    }
    writes.push({ id, change: rows.changes(fields, undefined) })
  }
  return writes
}

/** @throws ApiError that names the record that the caller may not change or delete, or whose change is refused */
async function checkWritten(
  collection: WrittenCollection,
  context: CheckContext,
  written: Written<Row>[],
  changes: Changes | undefined,
): Promise<void> {
  const calculatedFields = Object.fromEntries((changes?.numbers ?? []).map(({ field }) => [field, true]))
  const sent = { ...changes?.set, ...calculatedFields }
  const pace = createPacer()
  for (const each of written) {
    await pace()
    try {
      collection.rules.checkWritten(context.caller, each, sent)
      await checkChange(collection, each, context)
    } catch (error) {
      throw ofRow(error, collection, (each.before as Row).id)
    }
  }
}

function ofRow(error: unknown, { name }: WrittenCollection, id: number): unknown {
  return error instanceof ApiError ? ofRecord(error, name, id) : error
}
