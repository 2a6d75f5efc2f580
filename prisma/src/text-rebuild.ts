import { searchKey } from './tables/search.ts'

/** Columns of a table to bring into the form that the service stores today. */
export interface Rebuild {
  table: string
  /** Text columns; `name_key` is the search key of `name`. */
  columns: string[]
}

// A step takes some 50 ms, if it writes no row.
export const ROWS_PER_STEP = 5_000

/**
 * The rebuilds of a migration: its lines `-- RebuildText "items" ("name", "name_key")`. SQL alone cannot do them: SQLite has no
 * normalization, and neither engine folds case as the service does. They run before the SQL of their migration, in steps of
 * their own, which may be repeated.
 */
export function rebuildsIn(sql: string): Rebuild[] {
  return [...sql.matchAll(/^-- RebuildText "(\w+)" \((.*)\)$/gm)].map(([, table = '', columns = '']) => ({
    table,
    columns: [...columns.matchAll(/"(\w+)"/g)].map(([, column = '']) => column),
  }))
}

export interface RebuiltRow {
  id: number
  version: number
  /** In the order of the columns. */
  values: (string | null)[]
  /** 1 if the record looks different to a client, which increases its version. */
  added: 0 | 1
}

/** The rows that differ from their new form. */
export function rebuiltRows(rows: Record<string, unknown>[], columns: string[]): RebuiltRow[] {
  return rows.flatMap((row) => {
    const values = columns.map((column) => {
      const text = row[column.replace(/_key$/, '')]
      if (typeof text !== 'string') return null
      return column.endsWith('_key') ? searchKey(text) : text.normalize()
    })
    const changed = columns.filter((column, index) => row[column] !== values[index])
    if (changed.length === 0) return []
    const added = changed.some((column) => !column.endsWith('_key')) ? 1 : 0
    return [{ id: row.id as number, version: row.version as number, values, added }]
  })
}
