import {
  createPacer,
  type RecordTable,
  ReferenceViolation,
  type RowWrite,
  type Tables,
  UniqueViolation,
  type Where,
  type WriteControl,
  type Written,
} from '@resource/database'
import { ApiError, type Path, type parserOf, validate } from '@resource/openapi'
import type { Caller } from '../access/caller.ts'
import type { MutationContext } from './context.ts'
import { atRow, type IfVersion, invalid, missingOrStale, notFound, referenced, versionsOf } from './refusals.ts'
import type { Row, RowMapping, Values } from './row-mapping.ts'
import type { WriteRules } from './write-rules.ts'

/** The write of one record, as a caller requests it. `at` is its path in the input; empty for a single write. */
export type RecordWrite = { at: Path } & (
  | { create: Values }
  | { id: number; if_version?: IfVersion; delete: true }
  | Change
)

interface Change {
  id?: number | undefined
  /** A unique field that names the record instead, and its value in the unique column. */
  key?: { field: string; column: string; value: unknown }
  if_version?: IfVersion
  change: Values
  /** Makes it an upsert: the fields of the record to create if there is none. They are validated only then. */
  orCreate?: Values
}

/** The record before and after its write, or why it was not written. */
export type Result = Written<Row> | ApiError

/** A collection whose records are written. */
export interface WrittenCollection {
  noun: string
  /** The record's name in messages: `User` */
  name: string
  tableOf: (tables: Tables) => RecordTable<Row>
  rows: RowMapping
  rules: WriteRules
  /** Parses the fields of a record that an upsert creates. */
  parseCreation: ReturnType<typeof parserOf>
  /** Whether a delete also deletes the records that refer to the deleted one. */
  cascades: boolean
  /** Counts the records that refer to one that cannot be deleted. */
  read: Tables
}

/** The writes of one call in its transaction. */
interface Call extends WrittenCollection {
  caller: Caller
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
 * decides is only that statement.
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
  const { caller } = context
  const [first] = given
  const single = given.length === 1 && !partial ? (first as RecordWrite) : undefined
  const rows = single === undefined ? [] : [await checked(collection, caller, single, false)]
  if (single === undefined) {
    const pace = createPacer()
    for (const row of given) {
      await pace()
      rows.push(row instanceof ApiError ? row : await checked(collection, caller, row, partial))
    }
  }
  return context.write(
    async (tx, prepared: Values[] | undefined, attempt) => {
      const table = collection.tableOf(tx)
      const call = { ...collection, caller, partial, table, attempt, ids: new Map(), results: [], now: new Date() }
      if (single !== undefined && !isLookedUp(single)) await writeSingle(call, single, prepared?.[0])
      else await writeInOrder(call, rows, prepared)
      return answer(call.results)
    },
    {
      ...collection.rows.preparation(rows.map(valuesOf), context),
      autocommit: single !== undefined && isOneStatement(collection, caller, single),
    },
  )
}

/** Checks what needs no stored record. Returns the row, or with partial success its error. */
async function checked({ rows, rules }: WrittenCollection, caller: Caller, row: RecordWrite, partial: boolean) {
  try {
    if ('create' in row) rules.checkCreation(caller, row.create)
    else if ('change' in row && row.orCreate === undefined) rules.checkHidden(caller, row.change)
    await rows.check(valuesOf(row))
    return row
  } catch (error) {
    const refusal = refusalOf(error)
    if (!partial) throw atRow(refusal, row.at)
    return refusal
  }
}

/** Whether nothing can undo a single write, and it needs no other statement. */
function isOneStatement({ cascades, rules }: WrittenCollection, caller: Caller, row: RecordWrite): boolean {
  if ('create' in row) return true
  if ('delete' in row) return !cascades && !rules.dependOnRecord(caller)
  return !isLookedUp(row) && !rules.dependOnRecord(caller, row.change)
}

/** Writes one record, whose locks its statement takes. */
async function writeSingle(call: Call, row: RecordWrite, prepared: Values | undefined): Promise<void> {
  const each = { index: 0, row, prepared }
  const fail = async (error: unknown): Promise<never> => {
    throw await refusalAt(call, each, error)
  }
  const write = await resolve(call, each).catch(fail)
  const [written] = await call.table.write([write]).catch(fail)
  await settle(call, { ...each, write }, written)
}

/** Writes neighbors together, up to a row that names the same record as one of them. */
async function writeInOrder(call: Call, rows: (RecordWrite | ApiError)[], prepared: Values[] = []): Promise<void> {
  await lock(call, rows)
  const names = new Set<unknown>()
  let neighbors: Ready[] = []
  const flush = async () => {
    if (neighbors.length > 0) await write(call, neighbors)
    for (const { index, row } of neighbors) {
      const { after } = call.results[index] as Written<Row>
      if ('change' in row && row.key !== undefined && after !== undefined) call.ids.set(row.key.value, after.id)
    }
    neighbors = []
    names.clear()
  }
  const pace = createPacer()
  for (const [index, row] of rows.entries()) {
    await pace()
    if (row instanceof ApiError) {
      call.results[index] = row
      continue
    }
    const name = nameOf(row)
    if (names.has(name)) await flush()
    const each = { index, row, prepared: prepared[index] }
    const resolved = await resolve(call, each).catch(refusalOf)
    if (!(resolved instanceof ApiError)) {
      neighbors.push({ ...each, write: resolved })
      names.add(name)
      continue
    }
    // The error of an earlier row precedes this one.
    if (!call.partial) await flush()
    await refuse(call, each, resolved)
  }
  await flush()
}

/** Takes the locks of several rows, and looks up the records that keys name. */
async function lock(call: Call, rows: (RecordWrite | ApiError)[]): Promise<void> {
  const valid = rows.flatMap((row) => (row instanceof ApiError ? [] : [row]))
  const isSingle = valid.length === 1 && !valid.some(isLookedUp)
  if (isSingle || valid.every((row) => 'create' in row)) return
  const locked = valid.map((row) => {
    if ('create' in row) return { create: call.rows.changes(row.create, undefined) }
    if ('delete' in row) return { id: row.id, delete: true as const }
    const change = call.rows.changes(valuesOf(row), undefined)
    if (row.orCreate !== undefined) return { create: change }
    return row.key === undefined && row.id !== undefined ? { id: row.id, change } : { change }
  })
  await call.table.lockFor(locked)
  await lookUp(call, valid)
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

async function resolve(call: Call, { row, prepared }: Given): Promise<RowWrite<Row>> {
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
  const record = (await validate(call.parseCreation, orCreate)) as Values
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
    const written = await table.write(neighbors.map(({ write }) => write))
    for (const [at, each] of neighbors.entries()) await settle(call, each, written[at])
  }
  try {
    await (isWhole && !partial ? writeAll() : attempt(writeAll))
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
  const change = await resolve(call, each).catch(refusalOf)
  if (change instanceof ApiError) await refuse(call, each, change)
  else if ('create' in change) return false
  else await write(call, [{ ...each, write: change }])
  return true
}

/** Checks a write. An error undoes it; with partial success a missing or stale record needs none. */
async function settle(call: Call, each: Ready, written: Written<Row> | undefined): Promise<void> {
  const { index, row, write } = each
  if (written === undefined) {
    const { id, versions } = write as { id: number; versions?: number[] | undefined }
    return refuse(call, each, await missingOrStale(call.table, call.name, id, versions))
  }
  call.results[index] = written
  try {
    call.rules.checkWritten(call.caller, written, 'change' in row ? row.change : {})
  } catch (error) {
    throw call.partial ? error : atRow(refusalOf(error), row.at)
  }
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

/** The fields that a row sends. */
function valuesOf(row: RecordWrite | ApiError): Values {
  if (row instanceof ApiError || 'delete' in row) return {}
  return 'create' in row ? row.create : (row.orCreate ?? row.change)
}

/** Whether the record of a row is not known before the transaction. */
function isLookedUp(row: RecordWrite): boolean {
  return 'change' in row && (row.key !== undefined || row.orCreate !== undefined)
}

/** What is equal for two rows that name the same record. */
function nameOf(row: RecordWrite): unknown {
  return 'create' in row ? row : (('key' in row ? row.key?.value : row.id) ?? row)
}

/** @throws any error that is not one of the request */
function refusalOf(error: unknown): ApiError {
  if (error instanceof ApiError && error.status < 500) return error
  throw error
}
