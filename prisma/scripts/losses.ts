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

const ADDITION = /^ADD (?:COLUMN .*(?:DEFAULT .*|(?<!NOT NULL))|CONSTRAINT .* ON DELETE RESTRICT.*)$/

/**
 * The statements of a migration after which an earlier version of the service could fail, or miss records: all but new tables,
 * indexes, references, and columns that are optional or have a default.
 *
 * @param sql for PostgreSQL
 */
export function breaksIn(sql: string): string[] {
  const created = [...sql.matchAll(/^CREATE TABLE "(\w+)"/gm)].map(([, table = '']) => table)
  const isCreated = (table = '') => created.includes(table)
  const statements = [...sql.matchAll(/^(?:ALTER|DROP|CREATE UNIQUE INDEX|CREATE INDEX [^\n]*_search_idx")[^;]*/gm)]
  return statements.map(([statement]) => statement).filter((statement) => !isAddition(statement, isCreated))
}

function isAddition(statement: string, isCreated: (table?: string) => boolean): boolean {
  const [, table] = /^(?:ALTER TABLE|CREATE .* ON) "(\w+)"/.exec(statement) ?? []
  // An earlier version would delete these rows without entries in the audit log.
  const [, cascading] = /REFERENCES "(\w+)".* ON DELETE CASCADE/.exec(statement) ?? []
  if (isCreated(table)) return cascading === undefined || isCreated(cascading)
  const changes = /^ALTER TABLE "\w+" +(.*)$/s.exec(statement)?.[1]?.split(/,\s*\n/)
  return changes?.every((change) => ADDITION.test(change)) ?? false
}
