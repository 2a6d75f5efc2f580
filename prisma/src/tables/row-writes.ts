import { OutsideScope, ReferenceViolation, UniqueViolation } from '../errors.ts'
import type { Changes, Entity, NewRow, RowWrite } from './types.ts'

export interface Written<Row> {
  before?: Row
  after?: Row
}

function isCreate<Row>(row: RowWrite<Row>): row is { create: NewRow<Row> } {
  return 'create' in row
}

function isRestore<Row>(row: RowWrite<Row>): row is { restore: Row } {
  return 'restore' in row
}

export type ChangeOf<Row> = Extract<RowWrite<Row>, { change: unknown }>
export type DeleteOf<Row> = Extract<RowWrite<Row>, { delete: true }>

/** Rows that one statement writes. */
export type Together<Row> =
  | { creates: NewRow<Row>[] }
  | { restores: Row[] }
  | { changes: ChangeOf<Row>[] }
  | { deletes: DeleteOf<Row>[] }

/**
 * The rows from `first` on that one statement can write: of one kind, and changes of the same columns of different rows.
 *
 * @param max the number of changes and of deletes
 */
export function togetherFrom<Row>(
  rows: readonly RowWrite<Row>[],
  first: number,
  max: { changes: number; deletes: number },
): Together<Row> {
  const row = rows[first] as RowWrite<Row>
  if ('create' in row) return { creates: neighbors(rows, first, isCreate).map(({ create }) => create) }
  if ('restore' in row) return { restores: neighbors(rows, first, isRestore).map(({ restore }) => restore) }
  if ('delete' in row)
    return { deletes: neighbors(rows, first, (row): row is DeleteOf<Row> => 'delete' in row, max.deletes) }
  const columns = columnsSet(row.change).join()
  const ids = new Set<number>()
  const isAlike = (row: RowWrite<Row>): row is ChangeOf<Row> =>
    'change' in row && !ids.has(row.id) && ids.add(row.id) && columnsSet(row.change).join() === columns
  return { changes: neighbors(rows, first, isAlike, max.changes) }
}

/** The columns that a change sets. */
export function columnsSet(change: object): string[] {
  return Object.keys(change).filter((column) => Reflect.get(change, column) !== undefined)
}

/** The elements from `first` on that fulfill a condition, until one does not. */
function neighbors<T, Kind extends T>(
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
  const Violation = error instanceof OutsideScope ? OutsideScope : ReferenceViolation
  return new Violation(error.columns, { index: first + error.index, cause: error })
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

export function idsOf(rows: Pick<Entity, 'id'>[]): number[] {
  return rows.map(({ id }) => id)
}

/** The value that a new row stores in a column. */
export function storedValue(row: object, column: string): unknown {
  if (column === 'version') return 1
  return (row as Record<string, unknown>)[column] ?? null
}
