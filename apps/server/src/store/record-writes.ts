import type { CollectionFacts } from '@resource/contract'
import {
  createPacer,
  type RecordTable,
  ReferenceViolation,
  type RowWrite,
  type Tables,
  type TablesAndPrisma,
  UniqueViolation,
  type Where,
  type WriteControl,
  type Written,
} from '@resource/database'
import { ApiError, type parserOf, validate } from '@resource/openapi'
import type { Caller } from '../access/caller.ts'
import type { MutationContext } from './context.ts'
import { checkChange, isCompleted, writeCompleted } from './record-rules.ts'
import { atRow, invalid, missingOrStale, notFound, referenced, versionsOf } from './refusals.ts'
import { isLookedUp, nameOf, type RecordWrite, valuesOf } from './requested-write.ts'
import type { Row, RowMapping, Values } from './row-mapping.ts'
import type { WriteRules } from './write-rules.ts'

/** The record before and after its write, or why it was not written. */
export type Result = Written<Row> | ApiError

/** A collection whose records are written. */
export interface WrittenCollection {
  noun: string
  /** The record's name in messages: `User` */
  name: string
  /** The singular noun: `user` */
  one: string
  tableOf: (tables: Tables) => RecordTable<Row>
  rows: RowMapping
  rules: WriteRules
  readOnly: CollectionFacts['readOnly']
  /** Parses the fields of a record that an upsert creates. */
  parseCreation: ReturnType<typeof parserOf>
  /** Whether a delete also deletes the records that refer to the deleted one. */
  cascades: boolean
}

/** The writes of one call in its transaction. */
interface Call extends WrittenCollection {
  caller: Caller
  /** Counts the records that refer to one that cannot be deleted. */
  read: Tables
  tx: TablesAndPrisma
  partial: boolean
  table: RecordTable<Row>
  attempt: WriteControl['attempt']
  /** The ids of records by the values of their key. */
  ids: Map<unknown, number>
  results: Result[]
  now: Date
}

/** A row of the call, with its prepared columns. */
interface Given {
  index: number
  row: RecordWrite
  prepared: Values | undefined
}

/** A row that is ready for the table. */
interface Ready extends Given {
  write: RowWrite<Row>
}

/**
 * Writes records in one transaction: all or none, or with `partial` every valid one. A single write that its own statement
 * decides is only that statement, which takes its locks.
 *
 * @param given with `partial`, the error of an invalid row in its place
 * @param answer makes the response of the results, which are in the order of the rows. Only with `partial` they have errors.
 * @throws ApiError 400, 403, 404, 409 or 412 of the first row that cannot be written, with its path
 */
export async function writeRecords<T>(
  collection: WrittenCollection,
  context: MutationContext,
  given: readonly (RecordWrite | ApiError)[],
  answer: (results: Result[]) => T,
  partial = false,
): Promise<T> {
  const { caller, read } = context
  const rows: (RecordWrite | ApiError)[] = []
  const pace = createPacer()
  for (const row of given) {
    const pause = pace()
    if (pause !== undefined) await pause
    if (row instanceof ApiError) {
      rows.push(row)
      continue
    }
    try {
      const checking = check(collection, caller, row)
      if (checking !== undefined) await checking
      rows.push(row)
    } catch (error) {
      const refusal = refusalOf(error)
      if (!partial) throw atRow(refusal, row.at)
      rows.push(refusal)
    }
  }
  const [first] = rows
  const isSingle = rows.length === 1 && !partial
  return context.write(
    async (tx, prepared: Values[] | undefined, attempt) => {
      const table = collection.tableOf(tx)
      const call = {
        ...collection,
        caller,
        read,
        tx,
        partial,
        table,
        attempt,
        ids: new Map(),
        results: [],
        now: new Date(),
      }
      await writeInOrder(call, rows, prepared)
      return answer(call.results)
    },
    {
      ...collection.rows.preparation(rows.map(valuesOf), context),
      autocommit: isSingle && isOneStatement(collection, caller, first as RecordWrite),
      countOf: () => rows.length,
    },
  )
}

/** Checks what needs no stored record. @throws ApiError, or rejects with it */
function check({ rows, rules }: WrittenCollection, caller: Caller, row: RecordWrite): Promise<void> | undefined {
  if ('create' in row) rules.checkCreation(caller, row.create)
  else if ('change' in row && row.orCreate === undefined) rules.checkHidden(caller, row.change)
  return rows.check(valuesOf(row))
}

/** Whether nothing can undo a single write, and it needs no other statement. */
function isOneStatement(collection: WrittenCollection, caller: Caller, row: RecordWrite): boolean {
  const { cascades, rules } = collection
  if ('delete' in row) return !cascades && !rules.dependOnRecord(caller)
  if (isCompleted(collection)) return false
  if ('create' in row) return rules.check === undefined
  return !isLookedUp(row) && !rules.dependOnRecord(caller, row.change)
}

/** Writes neighbors together, up to a row that names the same record as one of them. */
async function writeInOrder(call: Call, rows: (RecordWrite | ApiError)[], prepared: Values[] = []): Promise<void> {
  const locking = lock(call, rows)
  if (locking !== undefined) await locking
  const names = new Set<unknown>()
  let neighbors: Ready[] = []
  const flush = () => {
    const together = neighbors
    neighbors = []
    names.clear()
    return together.length === 0 ? undefined : write(call, together)
  }
  const pace = createPacer()
  for (const [index, row] of rows.entries()) {
    const pause = pace()
    if (pause !== undefined) await pause
    if (row instanceof ApiError) {
      call.results[index] = row
      continue
    }
    const name = nameOf(row)
    if (names.has(name)) await flush()
    const each = { index, row, prepared: prepared[index] }
    try {
      const resolved = resolve(call, each)
      neighbors.push({ ...each, write: resolved instanceof Promise ? await resolved : resolved })
      names.add(name)
    } catch (error) {
      const refusal = refusalOf(error)
      // The error of an earlier row precedes this one.
      if (!call.partial) await flush()
      await refuse(call, each, refusal)
    }
  }
  await flush()
}

/** Takes the locks of several rows, and looks up the records that keys name. */
function lock(call: Call, rows: (RecordWrite | ApiError)[]): Promise<void> | undefined {
  const valid = rows.filter((row): row is RecordWrite => !(row instanceof ApiError))
  const isSingle = valid.length === 1 && !valid.some(isLookedUp) && !isCompleted(call)
  return isSingle || valid.every((row) => 'create' in row) ? undefined : lockAll(call, valid)
}

async function lockAll(call: Call, rows: RecordWrite[]): Promise<void> {
  const locked = rows.map((row) => {
    if ('create' in row) return { create: call.rows.changes(row.create, undefined) }
    if ('delete' in row) return { id: row.id, delete: true as const }
    const change = call.rows.changes(valuesOf(row), undefined)
    if (row.orCreate !== undefined) return { create: change }
    return row.key === undefined && row.id !== undefined ? { id: row.id, change } : { change }
  })
  await call.table.lockFor(locked)
  await lookUp(call, rows)
}

/** Finds the ids of records by their keys. No other write can give the records other keys. */
async function lookUp({ table, ids }: Call, rows: RecordWrite[]): Promise<void> {
  const keys = rows.flatMap((row) => ('change' in row && row.key?.value !== undefined ? [row.key] : []))
  const [key] = keys
  if (key === undefined) return
  const { column } = key
  const where = { [column]: { in: keys.map(({ value }) => value) } } as Where<Row>
  const order = { column: 'id', descending: false } as const
  for (;;) {
    const locked = new Set<unknown>((await table.lock(where, keys.length)).map(({ id }) => id))
    const found = await table.page({ columns: ['id', column], where, order, take: keys.length })
    // While this write waited for a lock, another may have given one of the keys to a further record.
    if (found.some(({ id }) => !locked.has(id))) continue
    for (const row of found) ids.set(row[column], row.id as number)
    return
  }
}

/** What the table is to write. */
function resolve(call: Call, { row, prepared }: Given): RowWrite<Row> | Promise<RowWrite<Row>> {
  const { name, rows, rules, caller, now } = call
  if ('create' in row) return { create: rows.created(row.create, prepared, now) }
  const versions = versionsOf(row.if_version)
  if ('delete' in row) return { id: row.id, versions, delete: true }
  const { key, id: given, change, orCreate } = row
  const id = key === undefined ? given : call.ids.get(key.value)
  if (id !== undefined) {
    if (orCreate !== undefined) rules.checkHidden(caller, change)
    if (given !== undefined && given !== id) throw invalid('id', `must be that of the record with this ${key?.field}`)
    return { id, versions, change: rows.changes(change, prepared) }
  }
  if (orCreate === undefined)
    throw key?.value === undefined ? invalid(key?.field ?? 'id', 'is required') : notFound(name)
  if (versions !== undefined)
    throw new ApiError(412, `${name} does not exist, so it has no version`, { reason: 'stale_version' })
  return creationOf(call, orCreate, prepared)
}

async function creationOf({ rows, rules, caller, now, parseCreation }: Call, fields: Values, prepared?: Values) {
  const record = (await validate(parseCreation, fields)) as Values
  rules.checkCreation(caller, record)
  return { create: rows.created(record, prepared, now) }
}

/** Writes rows of different records: together, and one by one if one of them is refused. */
async function write(call: Call, neighbors: Ready[]): Promise<void> {
  const { partial, table, attempt } = call
  // Their error names the row.
  const areCreates = !partial && neighbors.every(({ row }) => 'create' in row)
  const isWhole = areCreates || neighbors.length === 1
  const writeAll = async () => {
    const writes = neighbors.map(({ write }) => write)
    const written = await (isCompleted(call)
      ? writeCompleted(call, table, writes, call, (error, index) => refusedAs(call, neighbors[index], error))
      : table.write(writes))
    const pace = createPacer()
    for (const [at, each] of neighbors.entries()) {
      const pause = pace()
      if (pause !== undefined) await pause
      const settling = settle(call, each, written[at])
      if (settling !== undefined) await settling
    }
  }
  try {
    await (isWhole && !partial ? writeAll() : attempt(writeAll))
    for (const { index, row } of neighbors) {
      const { after } = call.results[index] as Written<Row>
      if ('change' in row && row.key !== undefined && after !== undefined) call.ids.set(row.key.value, after.id)
    }
  } catch (error) {
    const isConstraint = error instanceof UniqueViolation || error instanceof ReferenceViolation
    if (!isConstraint && !(partial && error instanceof ApiError)) throw error
    const failed = neighbors[(isConstraint && error.index) || 0] as Ready
    // PostgreSQL does not always name the row.
    if (areCreates && neighbors.length > 1 && isConstraint && error.index === undefined)
      failed.row = { ...failed.row, at: [] }
    if (!isWhole) for (const each of neighbors) await write(call, [each])
    else if (!(error instanceof UniqueViolation && (await writeFound(call, failed)))) await refuse(call, failed, error)
  }
}

/** Changes the record that another write, on PostgreSQL, has created since the key of an upsert was looked up. */
async function writeFound(call: Call, each: Ready): Promise<boolean> {
  const { row, write: create } = each
  if (!('create' in create && 'change' in row)) return false
  await lookUp(call, [row])
  let change: RowWrite<Row>
  try {
    change = await resolve(call, each)
  } catch (error) {
    await refuse(call, each, refusalOf(error))
    return true
  }
  if ('create' in change) return false
  await write(call, [{ ...each, write: change }])
  return true
}

/** Checks a write. An error undoes it; with partial success a missing or stale record needs none. */
function settle(call: Call, each: Ready, written: Written<Row> | undefined): Promise<void> | undefined {
  const { index, row } = each
  if (written === undefined) return refuseMissing(call, each)
  call.results[index] = written
  try {
    call.rules.checkWritten(call.caller, written, 'change' in row ? row.change : {})
  } catch (error) {
    throw refusedAs(call, each, error)
  }
  return checkChange(call, written, call)?.catch((error) => {
    throw refusedAs(call, each, error)
  })
}

/** The refusal of a row by a rule: with its path, unless the row has a result of its own. */
function refusedAs({ partial }: Call, each: Given | undefined, error: unknown): unknown {
  return partial ? error : atRow(refusalOf(error), each?.row.at ?? [])
}

async function refuseMissing(call: Call, each: Ready): Promise<void> {
  const { id, versions } = each.write as { id: number; versions?: number[] | undefined }
  await refuse(call, each, await missingOrStale(call.table, call.name, id, versions))
}

/** @throws the error of a row, unless the others are written without it */
async function refuse(call: Call, each: Given, error: unknown) {
  const refusal = await refusalAt(call, each, error)
  if (!call.partial) throw refusal
  call.results[each.index] = refusal
}

/** The error of a row: with its path, unless the row has a result of its own. */
async function refusalAt({ noun, rows, read, partial }: Call, { row }: Given, error: unknown): Promise<ApiError> {
  const id = 'delete' in row ? row.id : undefined
  const refusal = refusalOf(rows.refused(await referenced(error, noun, id, read)))
  return partial ? refusal : atRow(refusal, row.at)
}

/** @throws any error that is not one of the request */
function refusalOf(error: unknown): ApiError {
  if (error instanceof ApiError && error.status < 500) return error
  throw error
}
