import Sqlite from 'better-sqlite3'
import { searchedText } from '../src/tables/search.ts'
import { quote } from '../src/tables/sql.ts'
import { datamodelOf, type Engine } from './models.ts'
import { SEARCH } from './table-declarations.ts'

/**
 * The columns of each table's search index, by table: those with a comment that starts with `@search`.
 *
 * @param models as in schema.prisma
 */
export function searchColumnsIn(models: string): Map<string, string[]> {
  const tables = datamodelOf(models).models.map(({ name, dbName, fields }) => {
    const searched = fields.filter(({ documentation = '' }) => SEARCH.test(documentation))
    return [dbName ?? name, searched.map((field) => field.name)] as const
  })
  return new Map(tables.filter(([, columns]) => columns.length > 0))
}

/** The tables for which SQL creates a search index on SQLite. */
export function searchedTablesIn(sql: string): string[] {
  return [...new Set([...sql.matchAll(/^CREATE VIRTUAL TABLE "(\w+)_search"/gm)].map(([, table = '']) => table))]
}

/**
 * Completes the SQL of a migration with the search indexes, which Prisma's schema engine does not compare.
 *
 * @param history the SQL of SQLite's migrations so far
 * @param sql the SQL of the migration by engine; empty for no difference
 * @param models as in schema.prisma
 */
export function withSearchIndexes(
  history: string,
  sql: Record<Engine, string>,
  models: string,
): Record<Engine, string> {
  const columns = searchColumnsIn(models)
  const before = new Set(searchIndexesIn(history).keys())
  const isKept = (indexes: Map<string, Set<string>>, table: string) => {
    const wanted = sqliteStatements(table, columns.get(table) ?? []).filter((statement) =>
      statement.startsWith('CREATE'),
    )
    return columns.has(table) && wanted.every((statement) => indexes.get(table)?.has(statement))
  }
  const complete = (engine: Engine, indexes: Map<string, Set<string>>) => {
    const drops = [...before]
      .filter((table) => !isKept(indexes, table))
      .map((table) => dropSearchIndexSql(engine, table))
    const creations = [...columns].filter(([table]) => !isKept(indexes, table))
    const isNew = (table: string) => new RegExp(`^CREATE TABLE "${table}"`, 'm').test(sql[engine])
    return [...drops, sql[engine], ...creations.map(([table, of]) => searchIndexSql(engine, table, of, isNew(table)))]
      .filter((part) => part !== '')
      .join('\n')
  }
  return {
    // Where SQLite's migration rebuilds a table, the triggers of the table are lost.
    sqlite: complete('sqlite', searchIndexesIn(history + sql.sqlite)),
    postgresql: complete('postgresql', searchIndexesIn(history)),
  }
}

/** The statements of the search indexes that SQL has created on SQLite, by table. */
function searchIndexesIn(sql: string): Map<string, Set<string>> {
  const database = new Sqlite(':memory:')
  database.exec(sql)
  const statements = database.prepare<[], string>('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL').pluck().all()
  database.close()
  return new Map(
    searchedTablesIn(statements.join('\n')).map((table) => [
      table,
      new Set(statements.filter((statement) => statement.includes(`"${table}_search`))),
    ]),
  )
}

/** The tables that SQLite's full-text index of a table consists of; Prisma's schema engine must ignore them. */
export function searchTablesOf(table: string): string[] {
  return ['', '_config', '_data', '_idx'].map((suffix) => `${table}_search${suffix}`)
}

/** The statements that create the search index of a table, and add the rows that it already has. */
function searchIndexSql(engine: Engine, table: string, columns: readonly string[], isNew: boolean): string {
  const statements = engine === 'sqlite' ? sqliteStatements(table, columns) : postgresStatements(table, columns, isNew)
  return `-- SearchIndex\n${statements.map((statement) => `${statement};\n`).join('')}`
}

/** The statements that remove the search index of a table. */
function dropSearchIndexSql(engine: Engine, table: string): string {
  if (engine === 'postgresql') return `-- DropSearchIndex\nDROP INDEX IF EXISTS "${table}_search_idx";\n`
  const triggers = EVENTS.map((event) => `DROP TRIGGER IF EXISTS "${table}_search_${event}";\n`).join('')
  return `-- DropSearchIndex\n${triggers}DROP TABLE IF EXISTS "${table}_search";\n`
}

const EVENTS = ['insert', 'delete', 'update']

/**
 * Trigrams of three code points, in an index that stores neither the text nor positions. A trigger writes it in the
 * transaction of the row.
 */
function sqliteStatements(table: string, columns: readonly string[]): string[] {
  const index = quote(`${table}_search`)
  const trigger = (event: string) => `CREATE TRIGGER ${quote(`${table}_search_${event}`)} AFTER ${event.toUpperCase()}`
  const text = (row: string) => searchedText(columns, row)
  const insert = `INSERT INTO ${index} ("rowid", "text") VALUES (new."id", ${text('new.')})`
  const remove = `INSERT INTO ${index} (${index}, "rowid", "text") VALUES ('delete', old."id", ${text('old.')})`
  const changed = columns.map((column) => `old.${quote(column)} <> new.${quote(column)}`).join(' OR ')
  return [
    `CREATE VIRTUAL TABLE ${index} USING fts5("text", content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1')`,
    // SqliteWriter merges the parts of the index: in a commit that would block the event loop for up to 200 ms.
    `INSERT INTO ${index} (${index}, "rank") VALUES ('automerge', 0)`,
    `INSERT INTO ${index} ("rowid", "text") SELECT "id", ${text('')} FROM ${quote(table)}`,
    // Otherwise the next thousands of writes merge what the previous statement has written, each for half a millisecond.
    `INSERT INTO ${index} (${index}) VALUES ('optimize')`,
    `${trigger('insert')} ON ${quote(table)} BEGIN\n  ${insert};\nEND`,
    `${trigger('delete')} ON ${quote(table)} BEGIN\n  ${remove};\nEND`,
    `${trigger('update')} OF ${columns.map(quote).join(', ')} ON ${quote(table)} WHEN ${changed} BEGIN\n  ${remove};\n  ${insert};\nEND`,
  ]
}

// The migration must also succeed where the extension is missing or the role may not create it. Searches then scan.
function postgresStatements(table: string, columns: readonly string[], isNew: boolean): string[] {
  const create = `CREATE INDEX "${table}_search_idx" ON "${table}" USING gin ((${searchedText(columns)})`
  // It becomes a migration of its own, and the first search index has created the extension.
  if (!isNew) return [`${create} gin_trgm_ops)`]
  return [
    `DO $$
DECLARE
  extension_schema name;
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  SELECT nspname INTO extension_schema FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm';
  EXECUTE format('${create.replaceAll("'", "''")} %I.gin_trgm_ops)', extension_schema);
EXCEPTION
  WHEN feature_not_supported OR undefined_file OR insufficient_privilege THEN
    RAISE WARNING 'Searches of ${table} have no index: %', SQLERRM;
END $$`,
  ]
}
