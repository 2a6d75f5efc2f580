import { ReferenceViolation } from '../errors.ts'
import type { ScopedRow as Row } from './scope.ts'
import type { RowWrite } from './types.ts'

export type AnyWrite = RowWrite<Row>

/** A column that refers to a table with a scope. */
export interface ScopedReference {
  column: string
  /** Those of some ids that exist in the scope. */
  visible: (ids: number[]) => Promise<Set<number>>
}

/**
 * Checks the references of all rows before any of them is written, so that a record outside a scope cannot be told from one that does
 * not exist.
 *
 * @param rows those to write, with their indexes among all of the write
 * @param stored the rows to change, before it
 * @throws ReferenceViolation with the index of the first such row
 */
export async function refuseReferences(
  references: readonly ScopedReference[],
  rows: readonly { row: AnyWrite; index: number }[],
  stored: ReadonlyMap<number, Row>,
): Promise<void> {
  if (references.length === 0) return
  const given = rows.map(({ row, index }) => ({ values: referring(row, stored), index }))
  const unseen = await Promise.all(
    references.map(async ({ column, visible }) => {
      const ids = new Set(given.flatMap(({ values }) => idIn(values, column) ?? []))
      if (ids.size > 0) for (const id of await visible([...ids])) ids.delete(id)
      return { column, ids }
    }),
  )
  for (const { values, index } of given) {
    const columns = unseen.flatMap(({ column, ids }) => {
      const id = idIn(values, column)
      return id !== undefined && ids.has(id) ? [column] : []
    })
    if (columns.length > 0) throw new ReferenceViolation(columns, { index })
  }
}

/** The columns that a write sets to other values. A write of another version of the row sets none. */
function referring(row: AnyWrite, stored: ReadonlyMap<number, Row>): Record<string, unknown> {
  if ('create' in row) return row.create
  if ('restore' in row) return row.restore
  if (!('change' in row)) return {}
  const before = stored.get(row.id)
  if (before === undefined || row.versions?.includes(before.version) === false) return {}
  return Object.fromEntries(Object.entries(row.change).filter(([column, value]) => value !== before[column]))
}

function idIn(values: Record<string, unknown>, column: string): number | undefined {
  const id = values[column]
  return typeof id === 'number' ? id : undefined
}
