import { createHash } from 'node:crypto'
import type { Output } from '@resource/contract'
import { createPacer, type Entity, type RecordedChange, shownRecord } from '@resource/database'
import type { AuditedTable, AuditedTables, Effect } from './audited-tables.ts'
import { runsOf } from './runs.ts'

// Enough for a table that a person reads.
export const MAX_SHOWN = 100

/**
 * The effect of changes. It depends neither on the ids that new records get, nor on times and generated values, nor on the
 * values of hidden fields: those are only known to be set. With a hash of a password, anyone could guess it quickly.
 */
export async function effectOf(tables: AuditedTables, changes: readonly RecordedChange[]): Promise<Effect> {
  const hash = createHash('sha256')
  const created = new Map<string, string>()
  const named = (resource: string, id: unknown) => created.get(`${resource} ${id}`) ?? id
  const pace = createPacer()
  for (const change of withDeletesSorted(changes)) {
    const pause = pace()
    if (pause !== undefined) await pause
    const { resource, bound, secrets, references } = tables[change.table] as AuditedTable
    const { before, after, written = {} } = change
    if (before === undefined && after !== undefined && !change.isRestored)
      created.set(`${resource} ${after.id}`, `new ${created.size}`)
    const boundValue = (row: Entity, field: string) => {
      const value = Reflect.get(row, field)
      const to = references[field]
      return to === undefined ? value : named(to, value)
    }
    const values = after && bound.map((field) => boundValue(after, field))
    const set = after && secrets.map(({ column }) => Reflect.get(written, column) != null)
    const { id } = before ?? after ?? {}
    hash.update(JSON.stringify([resource, named(resource, id), before?.version, values, set]))
  }
  return { tables, changes, fingerprint: hash.digest('base64url') }
}

/** The answer of a preview. */
export function presentEffect({ tables, changes, fingerprint }: Effect): Output<'previews', 'create'> {
  const records = byRecord(changes)
  const count = (isOne: (change: RecordedChange) => boolean) => records.filter(isOne).length
  return {
    effect: fingerprint,
    created: count(({ before }) => before === undefined),
    updated: count(({ before, after }) => before !== undefined && after !== undefined),
    deleted: count(({ after }) => after === undefined),
    changes: records.slice(0, MAX_SHOWN).map((change) => {
      const { before, after, written } = change
      const table = tables[change.table] as AuditedTable
      // The service has yet to assign the other fields of a new record.
      const shown = before === undefined && !change.isRestored ? { ...table, shown: table.bound } : table
      return {
        resource: table.resource,
        id: (change.isRestored ? after : before)?.id ?? null,
        before: (before && shownRecord(table, before)) ?? null,
        after: (after && shownRecord(shown, after, written)) ?? null,
      }
    }),
  }
}

/** What changes do to each record: undoing a request may change one several times. */
function byRecord(changes: readonly RecordedChange[]): RecordedChange[] {
  const records = new Map<string, RecordedChange>()
  for (const change of changes) {
    const { table, before, after, written } = change
    const key = `${String(table)} ${(before ?? after)?.id}`
    const first = records.get(key)
    if (first === undefined) {
      records.set(key, change)
      continue
    }
    const { after: _, ...begun } = first
    records.set(key, { ...begun, ...(after && { after }), written: { ...first.written, ...written } })
  }
  return [...records.values()].filter(({ before, after }) => before !== undefined || after !== undefined)
}

/** Neighboring deletes of one table in the order of their ids: a statement deletes its rows in any order. */
function withDeletesSorted(changes: readonly RecordedChange[]): RecordedChange[] {
  const isDelete = ({ after }: RecordedChange) => after === undefined
  const runs = runsOf(changes, (one, next) => isDelete(one) && isDelete(next) && one.table === next.table)
  return runs.flatMap((run) => run.toSorted((a, b) => (a.before?.id ?? 0) - (b.before?.id ?? 0)))
}
