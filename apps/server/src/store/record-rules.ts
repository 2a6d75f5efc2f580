import { calculated, decimalsOf } from '@resource/contract'
import { factsOf } from '@resource/contract/schema'
import {
  atLaterIndex,
  changed,
  createPacer,
  isUnchanged,
  type RecordTable,
  type RowWrite,
  type Tables,
  type TablesAndPrisma,
  type Where,
  type Written,
} from '@resource/database'
import type { z } from 'zod'
import type { Caller } from '../access/caller.ts'
import { invalid } from './refusals.ts'
import type { Row, RowMapping, Values } from './row-mapping.ts'
import { inTime } from './rule-time.ts'

/** What a check of changes gets beside a change. */
export interface CheckContext {
  caller: Caller
  /** The transaction of the change, in which only the records of the caller's scopes exist. What a check writes through it is audited, previewed and undone with the change. */
  tx: TablesAndPrisma
}

/** A record before and after its change: `before` is absent for a new record, `after` for a deleted one. */
type RecordChange<Record> =
  | { before?: undefined; after: Record }
  | { before: Record; after: Record }
  | { before: Record; after?: undefined }

/** Refuses a change of a record by an error: a FieldError with the path of the field, or an ApiError. */
export type Check<Record> = (change: RecordChange<Record>, context: CheckContext) => void | Promise<void>

/** The tables of a transaction for reads. */
type Readable = { readonly [N in keyof Tables]: Omit<Tables[N], 'write' | 'deleteAll'> } & Pick<
  TablesAndPrisma,
  'prisma'
>

/**
 * Gives read-only fields their values before a record is written; a field that it leaves out keeps its value. It can refuse the
 * change like a check. Numbers are rounded to the decimals of their field.
 *
 * @param change `before` is absent for a new record, whose id is not known yet
 */
export type Compute<Record, Name> = (
  change: { before?: Record; after: Omit<Record, 'id' | 'version'> },
  context: { caller: Caller; tx: Readable },
) => Computed<Record, Name> | Promise<Computed<Record, Name>>

type Computed<Record, Name> = { [K in keyof Record as K extends Name ? K : never]?: Record[K] } & {
  [K in keyof Record as K extends Name ? never : K]?: never
}

/** A collection, as far as its own rules concern it. */
interface Ruled {
  noun: string
  rows: RowMapping
  readOnly: Readonly<Record<string, z.ZodType>>
  rules: { check?: Check<Values> | undefined; compute?: Compute<Values, string> | undefined }
}

/** Runs the check of the collection, if it has one and the write changed something. @returns rejects with its refusal */
export function checkChange(
  { noun, rows, rules }: Pick<Ruled, 'noun' | 'rows' | 'rules'>,
  { before, after }: Written<Row>,
  { caller, tx }: CheckContext,
): Promise<void> | undefined {
  const { check } = rules
  if (check === undefined || (before !== undefined && before.version === after?.version)) return undefined
  const change = {
    ...(before && { before: rows.copied(before) }),
    ...(after && { after: rows.copied(after) }),
  } as RecordChange<Values>
  return inTime((async () => check(change, { caller, tx }))(), `${noun}: its check`)
}

/** Whether a write stores values that follow from the whole record, so that it needs the stored one first. */
export function isCompleted({ rows, rules }: Pick<Ruled, 'rows' | 'rules'>): boolean {
  return rules.compute !== undefined || rows.hasJoint
}

/**
 * Writes rows like the table, with the values that follow from the whole record. Rows are written together, but one by one if
 * their values depend on other records: each then sees those before it.
 *
 * @param refusedAs the error of a row if its values are refused; returns or throws any other error
 */
export async function writeCompleted(
  collection: Ruled,
  table: RecordTable<Row>,
  writes: readonly RowWrite<Row>[],
  context: CheckContext,
  refusedAs: (error: unknown, index: number) => unknown,
): Promise<(Written<Row> | undefined)[]> {
  const written: (Written<Row> | undefined)[] = []
  let waiting: RowWrite<Row>[] = []
  const flush = async () => {
    const rows = waiting
    waiting = []
    const stored = await table.write(rows).catch((error) => {
      throw atLaterIndex(error, written.length)
    })
    for (const each of stored) written.push(each)
  }
  const stored = await lockedRows(
    table,
    writes.flatMap((write) => ('change' in write ? [write.id] : [])),
  )
  const seen = new Set<number>()
  const pace = createPacer()
  for (const [index, write] of writes.entries()) {
    await pace()
    if ('change' in write) {
      const { id } = write
      if (seen.has(id)) {
        await flush()
        for (const [at, row] of await lockedRows(table, [id])) stored.set(at, row)
      }
      seen.add(id)
    }
    const complete = () => completed(collection, write, 'change' in write ? stored.get(write.id) : undefined, context)
    try {
      let completing = complete()
      const readsOthers = completing instanceof Promise
      if (readsOthers && waiting.length > 0) {
        // It may have read a record before an earlier row was written.
        await completing
        await flush()
        completing = complete()
      }
      waiting.push(await completing)
      if (readsOthers) await flush()
    } catch (error) {
      throw refusedAs(error, index)
    }
  }
  await flush()
  return written
}

/** Locks records and reads them. */
export async function lockedRows(table: RecordTable<Row>, ids: readonly number[]): Promise<Map<number, Row>> {
  if (ids.length === 0) return new Map()
  const where = { id: { in: [...new Set(ids)] } } as Where<Row>
  await table.lock(where, ids.length)
  const found = await table.page({ where, order: { column: 'id', descending: false }, take: ids.length })
  return new Map(found.map((row): [number, Row] => [row.id as number, row as Row]))
}

/** The write of a row with the values that follow from the whole record. One that changes nothing stays as it is. */
function completed(
  { noun, readOnly, rows, rules }: Ruled,
  write: RowWrite<Row>,
  stored: Row | undefined,
  context: CheckContext,
): RowWrite<Row> | Promise<RowWrite<Row>> {
  if (!('create' in write || 'change' in write)) return write
  if ('change' in write) {
    const isMissing = stored === undefined || write.versions?.includes(stored.version) === false
    if (isMissing || isUnchanged(stored, write.change)) return write
  }
  const set: Values = 'create' in write ? write.create : write.change
  const after = rows.copied(stored === undefined ? set : changed(stored, set))
  const withComputed = (computed: Values = {}): RowWrite<Row> => {
    const given = Object.fromEntries(Object.entries(after).filter(([field]) => set[field] !== undefined))
    const initial = stored === undefined ? pick(after, Object.keys(readOnly)) : {}
    const valid = validated(noun, readOnly, { ...initial, ...computed })
    const columns = rows.stored({ ...given, ...valid }, { ...after, ...valid })
    return 'create' in write
      ? { create: { ...write.create, ...columns } }
      : { ...write, change: { ...set, ...columns } }
  }
  const change = { ...(stored && { before: rows.copied(stored) }), after: { ...after } }
  const computing = rules.compute?.(change, context)
  return isThenable(computing) ? inTime(computing, `${noun}: its compute`).then(withComputed) : withComputed(computing)
}

/** @throws FieldError for a number or a text that its field does not allow, which the input may cause; Error for what is a defect of the rule */
function validated(noun: string, readOnly: Ruled['readOnly'], computed: Values): Values {
  const values = Object.entries(computed).flatMap(([name, value]) => {
    if (value === undefined) return []
    const schema = readOnly[name]
    if (schema === undefined) throw new Error(`${noun}: its rule computes ${name}, which is not a read-only field`)
    const isNumber = typeof value === 'number' && Number.isFinite(value)
    const { data, error } = schema.safeParse(isNumber ? calculated(value, { add: 0 }, decimalsOf(schema)) : value)
    const issue = error?.issues[0]
    const { type } = factsOf(schema)
    const hasType = isNumber ? /number|integer/.test(type) : typeof value === 'string' && type.includes('string')
    if (issue !== undefined && hasType) throw invalid(name, issue.message)
    if (issue !== undefined) throw new Error(`${noun}: the computed ${name} ${issue.message}`)
    return [[name, data]]
  })
  return Object.fromEntries(values)
}

function pick(record: Values, names: readonly string[]): Values {
  return Object.fromEntries(names.map((name) => [name, record[name]]))
}

function isThenable(value: unknown): value is PromiseLike<Values> {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'then') === 'function'
}
