import type { Kind } from './types.ts'

/** SQL with a `?` placeholder for each value. Queries of the same shape share one text. */
export interface Statement {
  text: string
  values: unknown[]
}

/** How rows of a table are inserted: `text` has a placeholder for each of `columns`. */
export interface Insertion {
  text: string
  table: string
  columns: { name: string; kind: Kind }[]
  /** Whether the engine generates the id. */
  hasId: boolean
  /** The unique column sets other than the id: the key, and each unique column. */
  unique: string[][]
}

/** A value as SQLite stores it: dates and booleans become numbers. */
export function numeric(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value)
  return value instanceof Date ? value.getTime() : value
}

export function names(columns: readonly PropertyKey[]): string {
  return columns.map(String).map(quote).join(', ')
}

export function quote(name: string): string {
  return `"${name}"`
}

/** Whether a row has a value other than null in a column. */
export function isSet(row: object, column: string): boolean {
  return (row as Record<string, unknown>)[column] != null
}
