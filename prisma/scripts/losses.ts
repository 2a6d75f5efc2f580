/** A column with a new name. */
export interface Rename {
  table: string
  from: string
  to: string
}

/** Reads `items.colour=color`; undefined for any other text. */
export function readRename(text: string): Rename | undefined {
  const [, table, from, to] = /^(\w+)\.(\w+)=(\w+)$/.exec(text) ?? []
  return table && from && to ? { table, from, to } : undefined
}

/** The statements that rename columns and keep their data, on either engine. */
export function renamingSql(renames: readonly Rename[]): string {
  return renames.map(({ table, from, to }) => `ALTER TABLE "${table}" RENAME COLUMN "${from}" TO "${to}";\n`).join('')
}

/**
 * The tables and columns whose data a generated migration deletes: `items.colour`, `books`.
 *
 * @param sql for PostgreSQL; that for SQLite copies the kept columns to a new table, and names no deleted one
 */
export function lossesIn(sql: string): string[] {
  const tables = [...sql.matchAll(/^DROP TABLE "(\w+)"/gm)].map(([, table]) => `${table}`)
  const columns = [...sql.matchAll(/^ALTER TABLE "(\w+)"([^;]*)/gm)].flatMap(([, table, changes = '']) =>
    [...changes.matchAll(/DROP COLUMN "(\w+)"/g)].map(([, column]) => `${table}.${column}`),
  )
  return [...columns, ...tables]
}
