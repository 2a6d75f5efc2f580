import { ReferenceViolation, UniqueViolation } from '../errors.ts'
import type { Changes, Entity, NewRow, RowWrite } from './types.ts'

export interface Written<Row> {
  before?: Row
  after?: Row
}

export function isCreate<Row>(row: RowWrite<Row>): row is { create: NewRow<Row> } {
  return 'create' in row
}

export function isDeleteOfAnyVersion<Row>(row: RowWrite<Row>): row is { id: number; delete: true } {
  return 'delete' in row && row.versions === undefined
}

/** The elements from `first` on that fulfill a condition, until one does not. */
export function neighbors<T, Kind extends T>(
  elements: readonly T[],
  first: number,
  isOne: (element: T) => element is Kind,
  max = Number.POSITIVE_INFINITY,
): Kind[] {
  const found: Kind[] = []
  for (let at = first; found.length < max; at++) {
    const element = elements[at]
    if (element === undefined || !isOne(element)) break
    found.push(element)
  }
  return found
}

export function deletesOf(rows: Pick<Entity, 'id'>[]) {
  return rows.map(({ id }) => ({ id, delete: true }) as const)
}

/** An error of a part of the rows, with the index of its row among all. */
export function atLaterIndex(error: unknown, first: number): unknown {
  if (error instanceof UniqueViolation && error.index !== undefined) {
    return new UniqueViolation(error.columns, { index: first + error.index, cause: error })
  }
  if (!(error instanceof ReferenceViolation) || error.index === undefined) return error
  return new ReferenceViolation(error.columns, { index: first + error.index, cause: error })
}

/** The row after an update, as the statement writes it. */
export function changed<Row extends Entity>(before: Row, changes: Changes<Row>): Row {
  const after: Row & { updated_at?: Date } = { ...before, version: before.version + 1 }
  const { updated_at: stored } = after
  for (const [column, value] of Object.entries(changes)) {
    if (value !== undefined) Object.assign(after, { [column]: value })
  }
  if (stored !== undefined && after.updated_at !== undefined && after.updated_at < stored) after.updated_at = stored
  return after
}
