import Sqlite from 'better-sqlite3'

const AUDIT = 'audit_entries'

/**
 * Lets a restored database continue after the one that it replaces: ids go on above those of both, and every version is above
 * all that the replaced records had. An id or a version that a client holds then never means other content.
 */
export function continueAfter(old: Sqlite.Database, file: string): void {
  const database = new Sqlite(file)
  try {
    const raise = highestVersion(old)
    const last = lastIds(database)
    const next = highestVersion(database) + raise
    database.transaction(() => {
      for (const table of versionedTables(database)) {
        database.prepare(`UPDATE "${table}" SET "version" = "version" + ?`).run(raise)
      }
      for (const [table, id] of lastIds(old)) {
        if (!tableNames(database).includes(table)) continue
        database.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(table)
        database
          .prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)')
          .run(table, Math.max(id, last.get(table) ?? 0))
      }
      database.pragma(`user_version = ${next}`)
    })()
  } finally {
    database.close()
  }
}

/**
 * A number that no version exceeds, also of deleted records: each change since the last restore has an audit entry, and
 * `user_version` is this number at that restore.
 */
function highestVersion(database: Sqlite.Database): number {
  const restored = database.pragma('user_version', { simple: true }) as number
  const changes = tableNames(database).includes(AUDIT) ? maximum(database, AUDIT, 'id') : 0
  return Math.max(
    restored + changes + 1,
    ...versionedTables(database).map((table) => maximum(database, table, 'version')),
  )
}

function tableNames(database: Sqlite.Database): string[] {
  return database.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all()
}

/** The last assigned id of each table. */
function lastIds(database: Sqlite.Database): Map<string, number> {
  if (!tableNames(database).includes('sqlite_sequence')) return new Map()
  return new Map(database.prepare<[], [string, number]>('SELECT name, seq FROM sqlite_sequence').raw().all())
}

function versionedTables(database: Sqlite.Database): string[] {
  const hasVersion = database.prepare(`SELECT 1 FROM pragma_table_info(?) WHERE name = 'version'`)
  return tableNames(database).filter((table) => hasVersion.get(table) !== undefined)
}

function maximum(database: Sqlite.Database, table: string, column: string): number {
  return database.prepare<[], number | null>(`SELECT max("${column}") FROM "${table}"`).pluck().get() ?? 0
}
