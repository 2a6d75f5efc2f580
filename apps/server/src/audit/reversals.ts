import { contract, grouped } from '@resource/contract'
import {
  type AuditEntry,
  declarations,
  digest,
  type RowWrite,
  shownRecord,
  type Tables,
  type TablesAndPrisma,
  UniqueViolation,
  unscoped,
  type Where,
} from '@resource/database'
import { ApiError, FieldError, type Path } from '@resource/openapi'
import { authorize, type Caller } from '../access/caller.ts'
import type { DeclaredTable } from '../store/agreement.ts'
import type { AuditedTable, AuditedTables } from '../store/audited-tables.ts'
import type { Services } from '../store/context.ts'
import { type CheckContext, checkChange, isCompleted, lockedRows, writeCompleted } from '../store/record-rules.ts'
import type { WrittenCollection } from '../store/record-writes.ts'
import { keptIn, recordedIn } from '../store/recorded.ts'
import type { Row, Values } from '../store/row-mapping.ts'
import { runsOf } from '../store/runs.ts'
import { isCut } from '../store/scoped-log.ts'
import { idsAround } from './entry-times.ts'
import { openRequests, recordKey, undoneRecords } from './groups.ts'

const EXISTS = 'exists again'
// More would hold the write lock of SQLite so long that other writes fail.
const MAX_CHANGES = 10_000

/** A collection whose changes can be undone. */
interface Undoable extends WrittenCollection {
  audited: AuditedTable
}

/** A change of a record, as its audit entry has it. */
interface Done {
  noun: string
  id: number
  before: Values | undefined
  after: Values | undefined
  /** Of each hidden column: its value before, and the digest of its value after. */
  kept: Record<string, [unknown, string | null] | undefined>
}

/** A step of a reversal. */
interface Step<Write extends RowWrite<Row> = RowWrite<Row>> {
  of: Undoable
  id: number
  write: Write
  /** Whether read-only fields are computed again: others have changed since. */
  isComputed?: boolean
}

type Restore = Step<{ restore: Row }>

type Fault = ConstructorParameters<typeof FieldError>[1][number]

/**
 * Undoes requests by their audit entries.
 *
 * @param audited the audited tables, by name
 * @param collections those whose changes can be undone, by noun
 */
export function reversalService(
  audited: AuditedTables,
  collections: ReadonlyMap<string, WrittenCollection>,
): Services['reversals'] {
  const undoable = new Map<string, Undoable>()
  for (const [noun, collection] of collections)
    undoable.set(noun, { ...collection, audited: audited[noun] as AuditedTable })

  return {
    open: ({ group }, { read }) => openRequests(read, group, [...undoable.keys()]),

    create: async ({ request_id }, context) => {
      let rest: Done[] = []
      const prepare = async () => {
        const done = await changesOf(context.read, request_id, undoable)
        for (const change of done) checkRole(context.caller, change)
        rest = await notUndone(context.read, request_id, done)
        context.spend?.({ rows: rest.length })
        return rest
      }
      const work = async (tx: TablesAndPrisma, done: Done[]) => {
        const rows = new Map<string, Map<number, Row>>()
        for (const of of undoable.values()) rows.set(of.noun, await rowsOf(tx, of, done))
        const steps = stepsOf(done, undoable, rows, context.caller)
        const runs = runsOf(steps, (one, next) => isRestore(one) === isRestore(next))
        const ordered = runs.flatMap((run) => (run.every(isRestore) ? parentsFirst(run) : run))
        const isAlike = (one: Step, next: Step) =>
          one.of === next.of && isRestore(one) === isRestore(next) && one.isComputed === next.isComputed
        for (const group of runsOf(ordered, isAlike)) await carryOut({ caller: context.caller, tx }, group)
        return { request_id, ...summaryOf(steps) }
      }
      return context
        .write(work, { prepare, countOf: (done) => done.length, reverses: request_id })
        .catch(async (error) => {
          // On PostgreSQL another caller may have undone it meanwhile: this one waited for the records, or restored them as well.
          if (error instanceof FieldError && rest.length > 0) await notUndone(context.read, request_id, rest)
          throw error
        })
    },
  }
}

/** The changes of a request, newest first. */
async function changesOf(read: Tables, request_id: string, undoable: ReadonlyMap<string, Undoable>): Promise<Done[]> {
  const range =
    (await rangeOf(read, { group_id: { not: null }, request_id })) ??
    (await rangeOf(read, { id: await idsAround(unscoped(read), request_id), request_id }))
  if (range === undefined) throw new ApiError(404, 'The audit log has no changes of this request')
  const { count, ...id } = range
  if (count > MAX_CHANGES) {
    throw new ApiError(409, `The request made more than ${grouped(MAX_CHANGES)} changes, too many to undo at once`)
  }
  const order = { column: 'id', descending: true } as const
  const entries = await read.auditEntries.page({ where: { id, request_id }, order, take: count })
  return entries.map((entry) => {
    const { id, resource, record_id, procedure, before, after, kept } = entry
    if (!undoable.has(resource) || isCut(entry)) throw new ApiError(409, `${procedure} cannot be undone`)
    const [was, is, hidden] = [recordedIn(before), recordedIn(after), keptIn(kept)]
    if (was === undefined || is === undefined || hidden === undefined)
      throw new ApiError(409, `${procedure} cannot be undone: its entry ${id} of the audit log is damaged`)
    return { noun: resource, id: record_id, before: was ?? undefined, after: is ?? undefined, kept: hidden }
  })
}

/**
 * The changes of a request that are not undone yet.
 *
 * @throws ApiError 409 if there are none
 */
async function notUndone(read: Tables, request_id: string, done: Done[]): Promise<Done[]> {
  // Equal values need not be those of the request: another caller may have written them since.
  const undone = await undoneRecords(read, request_id)
  const rest = done.filter(({ noun, id }) => !undone.has(recordKey(noun, id)))
  if (rest.length === 0) throw new ApiError(409, 'This request is undone already', { reason: 'already_undone' })
  return rest
}

/** The first and the last id of the entries of a request, and their number. On SQLite a long search runs in the background. */
async function rangeOf({ auditEntries }: Tables, where: Where<AuditEntry>) {
  const [found] = await auditEntries.summarize({ where, of: 'id', limit: 1 })
  if (found === undefined || found.count === 0) return undefined
  return { gte: Number(found.minimum), lte: Number(found.maximum), count: found.count }
}

/** @throws ApiError 403 if the caller may not write the inverse of a change */
function checkRole(caller: Caller, { noun, before, after }: Done): void {
  const { procedures }: { procedures: Record<string, { access?: string } | undefined> } = contract[noun as 'items']
  const inverse = before === undefined ? procedures.delete : after === undefined ? procedures.create : undefined
  const access = before !== undefined && after !== undefined ? (procedures.update ?? procedures.replace) : inverse
  authorize({ caller }, access?.access)
}

/** Locks the records of the changes in the order of every write, and reads them. */
async function rowsOf(tx: Tables, of: Undoable, done: Done[]): Promise<Map<number, Row>> {
  const own = done.filter(({ noun }) => noun === of.noun)
  if (own.length === 0) return new Map()
  const table = of.tableOf(tx)
  await table.lockFor(
    own.map(({ id, before, after }) => {
      if (after === undefined) return { restore: of.rows.stored(before ?? {}) as Row }
      return before === undefined
        ? { id, delete: true as const }
        : { id, change: of.rows.stored(differing(before, after)) }
    }),
  )
  return lockedRows(
    table,
    own.map(({ id }) => id),
  )
}

/** The fields that a change has set to other values, as they were before. */
function differing(before: Values, after: Values): Values {
  const names = Object.keys(before).filter((name) => !ASSIGNED.has(name) && before[name] !== after[name])
  return Object.fromEntries(names.map((name) => [name, before[name]]))
}

// An undone update is a change of its own.
const ASSIGNED = new Set(['id', 'version', 'created_at', 'updated_at'])

/**
 * The steps that undo changes, newest first.
 *
 * @param rows the stored rows by noun and id; they become those after the reversal
 * @throws FieldError 412 that names each record or field that has changed since; 403 for a field that the caller may not set
 */
function stepsOf(
  done: Done[],
  undoable: ReadonlyMap<string, Undoable>,
  rows: Map<string, Map<number, Row>>,
  caller: Caller,
): Step[] {
  const faults: Fault[] = []
  const steps = done.flatMap((change): Step[] => {
    const { noun, id, before, after } = change
    const of = undoable.get(noun) as Undoable
    const stored = rows.get(noun)?.get(id)
    const found = faultsOf(of, change, stored)
    faults.push(...found)
    if (found.length > 0) return []
    if (before !== undefined && after === undefined) {
      const restore = { ...of.rows.stored(before), ...formerly(of, change) } as Row
      of.rules.checkCreation(caller, before)
      rows.get(noun)?.set(id, restore)
      return [{ of, id, write: { restore } }]
    }
    if (stored === undefined) return []
    if (before === undefined) {
      of.rules.checkWritten(caller, { before: stored }, {})
      rows.get(noun)?.delete(id)
      return [{ of, id, write: { id, delete: true } }]
    }
    const since = new Set(changedSince(of, after ?? {}, stored))
    // A read-only field that has changed since is computed again, all others are restored.
    const undone = Object.entries(differing(before, after ?? {})).filter(([field]) => !since.has(field))
    const fields: Values = Object.fromEntries(undone)
    const hidden = formerly(of, change)
    const columns = of.rows.stored(fields, { ...shownRecord(of.audited, stored), ...fields })
    const now = { ...stored, ...columns, ...hidden, version: stored.version + 1 } as Row
    of.rules.checkHidden(
      caller,
      Object.fromEntries(of.audited.secrets.map(({ column, field }) => [field, hidden[column]])),
    )
    of.rules.checkWritten(caller, { before: stored, after: now }, fields)
    rows.get(noun)?.set(id, now)
    const set = { ...of.rows.changes({}, undefined), ...columns, ...hidden }
    // The values of then are right for the record of then.
    return [{ of, id, write: { id, change: set }, ...(since.size > 0 && isCompleted(of) && { isComputed: true }) }]
  })
  if (faults.length > 0) throw new FieldError(412, faults, { reason: 'changed_since' })
  return steps
}

/** The shown fields whose values are no longer those that a change has left. */
function changedSince({ audited }: Undoable, after: Values, stored: Row): string[] {
  const shown: Values = shownRecord(audited, stored)
  return Object.keys(after).filter((field) => field in shown && !ASSIGNED.has(field) && shown[field] !== after[field])
}

/** How many records the steps restore, change and delete in the end: a record may have several. */
function summaryOf(steps: Step[]): { restored: number; updated: number; deleted: number } {
  const ends = new Map<string, { first: Step; last: Step }>()
  for (const step of steps) {
    const key = recordKey(step.of.noun, step.id)
    ends.set(key, { first: ends.get(key)?.first ?? step, last: step })
  }
  const summary = { restored: 0, updated: 0, deleted: 0 }
  for (const { first, last } of ends.values()) {
    const [wasThere, isThere] = [!isRestore(first), !('delete' in last.write)]
    if (wasThere) summary[isThere ? 'updated' : 'deleted']++
    else if (isThere) summary.restored++
  }
  return summary
}

/** What stands in the way of undoing a change. */
function faultsOf(of: Undoable, { noun, id, before, after, kept }: Done, stored: Row | undefined): Fault[] {
  const { audited, name, rules, readOnly } = of
  const path: Path = [noun, id]
  if (after === undefined) return stored === undefined ? [] : [{ path, message: EXISTS }]
  if (stored === undefined) return [{ path, message: `was deleted since: there is no such ${name.toLowerCase()}` }]
  const names = before === undefined ? after : differing(before, after)
  const isComputed = (field: string) => before !== undefined && rules.compute !== undefined && field in readOnly
  const changed = changedSince(of, after, stored).filter((field) => field in names && !isComputed(field))
  const hidden = audited.kept.filter((column) => {
    if (before !== undefined && kept[column] === undefined) return false
    return digest(Reflect.get(stored, column) ?? null) !== (kept[column]?.[1] ?? null)
  })
  const fieldOf = (column: string) => audited.secrets.find((secret) => secret.column === column)?.field ?? column
  return [...changed, ...hidden.map(fieldOf)].map((field) => ({ path: [...path, field], message: 'was changed since' }))
}

/** The hidden columns that a change has set, as they were before. */
function formerly({ audited }: Undoable, { kept }: Done): Values {
  return Object.fromEntries(
    audited.kept.flatMap((column) => (kept[column] === undefined ? [] : [[column, kept[column][0]]])),
  )
}

/**
 * Restores in the order of their ids, each after those of the records that it refers to: a delete has its entry before those
 * of the records that it cascaded to. Neighbors were stored at the same time, so no order of theirs breaks a rule.
 */
function parentsFirst(restores: Restore[]): Restore[] {
  const found = new Map(restores.map((step) => [`${step.of.noun} ${step.id}`, step]))
  const depths = new Map<Restore, number>()
  const depthOf = (step: Restore): number => {
    const known = depths.get(step)
    if (known !== undefined) return known
    // Ends a cycle of references.
    depths.set(step, 0)
    let depth = 0
    for (const [column, reference] of Object.entries(tables[step.of.noun]?.references ?? {})) {
      const parent = found.get(`${String(reference?.table)} ${step.write.restore[column]}`)
      if (parent !== undefined) depth = Math.max(depth, 1 + depthOf(parent))
    }
    depths.set(step, depth)
    return depth
  }
  return restores.toSorted((a, b) => depthOf(a) - depthOf(b) || a.of.noun.localeCompare(b.of.noun) || a.id - b.id)
}

function isRestore(step: Step): step is Restore {
  return 'restore' in step.write
}

async function carryOut(context: CheckContext, steps: Step[]): Promise<void> {
  const { tx } = context
  const [{ of, isComputed }] = steps as [Step]
  const table = of.tableOf(tx)
  const deleted = steps.flatMap(({ id, write }) => ('delete' in write ? [id] : []))
  if (of.cascades && deleted.length > 0) await refuseCascades(tx, of, deleted)
  const refusedAt = (error: unknown, id: number | undefined) => {
    const refused = of.rows.refused(error)
    // Not a value of a field, so it is the id.
    if (refused instanceof UniqueViolation && id !== undefined)
      return new FieldError(412, [{ path: [of.noun, id], message: EXISTS }], { reason: 'changed_since' })
    return refused instanceof FieldError
      ? refused.withPaths((path) => [of.noun, ...(id === undefined ? [] : [id]), ...path])
      : refused
  }
  const writes = steps.map(({ write }) => write)
  const writing = isComputed
    ? writeCompleted(of, table, writes, context, (error, index) => refusedAt(error, steps[index]?.id))
    : table.write(writes)
  const written = await writing.catch((error) => {
    if (error instanceof FieldError) throw error
    const { index = steps.length === 1 ? 0 : undefined } = error as { index?: number }
    throw refusedAt(error, index === undefined ? undefined : steps[index]?.id)
  })
  for (const [at, { id }] of steps.entries()) {
    const each = written[at]
    const checking = each && checkChange(of, each, context)
    if (checking === undefined) continue
    await checking.catch((error) => {
      throw refusedAt(error, id)
    })
  }
}

const tables = declarations as unknown as Record<string, DeclaredTable>

/** @throws FieldError 412 if deleting records would also delete records that refer to them by now */
async function refuseCascades(tx: Tables, { noun }: Undoable, ids: number[]): Promise<void> {
  for (const [name, { references }] of Object.entries(tables)) {
    for (const [column, reference] of Object.entries(references)) {
      if (reference?.table !== noun || reference.onDelete !== 'Cascade') continue
      const table = tx[name as 'items']
      const where = { [column]: { in: ids } }
      const order = { column: 'id', descending: false } as const
      const found = await table.page({ columns: ['id'], where, order, take: Number.MAX_SAFE_INTEGER })
      const other = found.find(({ id }) => name !== noun || !ids.includes(id))
      if (other !== undefined) {
        const message = `refers by ${column} to a record that would be deleted: delete or change it first`
        throw new FieldError(412, [{ path: [name, other.id], message }], { reason: 'changed_since' })
      }
    }
  }
}
