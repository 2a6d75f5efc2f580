import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { declarations } from '../src/tables/declarations.ts'
import { modelsFor } from './models.ts'
import { separateIndexes } from './postgres-sql.ts'
import { searchColumnsIn, withSearchIndexes } from './search-index.ts'

const model = (fields: string) => `model Order {\n  id Int @id\n${fields}\n\n  @@map("orders")\n}\n`
const named = model(`  name String\n  /// @search The name.\n  /// In lower case.\n  name_key String @default("")`)
const table = `CREATE TABLE "orders" ("id" INTEGER PRIMARY KEY, "name_key" TEXT NOT NULL DEFAULT '', "note_key" TEXT NOT NULL DEFAULT '');\n`
const none = { sqlite: '', postgresql: '' }

test('the columns with @search in the models are those of the declarations', () => {
  expect(searchColumnsIn(named)).toEqual(new Map([['orders', ['name_key']]]))
  const searched = Object.values(declarations).filter(({ search }) => search.length > 0)
  expect(searchColumnsIn(modelsFor('sqlite'))).toEqual(new Map(searched.map(({ name, search }) => [name, search])))
})

test('the migration of a new model creates its search index, and the next one has nothing to add', () => {
  const first = withSearchIndexes('', { sqlite: table, postgresql: 'CREATE TABLE "orders" ();\n' }, named)
  expect(first.postgresql).toContain(`EXECUTE format('CREATE INDEX "orders_search_idx"`)
  expect(matchesAfter(first.sqlite, 'UPDATE orders SET note_key = name_key')).toEqual([1])
  const database = new Sqlite(':memory:')
  database.exec(first.sqlite)
  expect(database.prepare(`SELECT v FROM orders_search_config WHERE k = 'automerge'`).pluck().get()).toBe(0)
  expect(withSearchIndexes(first.sqlite, none, named)).toEqual(none)
})

test('a rebuilt table gets its triggers again, on SQLite only', () => {
  const { sqlite: history } = withSearchIndexes('', { ...none, sqlite: table }, named)
  const rebuild = `${table.replace('"orders"', '"new_orders"')}INSERT INTO new_orders SELECT * FROM orders;
    DROP TABLE orders; ALTER TABLE new_orders RENAME TO orders;`
  const second = withSearchIndexes(history, { ...none, sqlite: rebuild }, named)
  expect(second.postgresql).toBe('')
  expect(matchesAfter(history + second.sqlite, '')).toEqual([1])
})

test('an index follows its columns, and the index of a removed model is dropped', () => {
  const { sqlite: history } = withSearchIndexes('', { ...none, sqlite: table }, named)
  const both = withSearchIndexes(history, none, named.replace('\n\n', `\n  /// @search\n  note_key String\n\n`))
  expect(separateIndexes(both.postgresql)).toEqual({
    sql: '-- DropSearchIndex\nDROP INDEX IF EXISTS "orders_search_idx";\n',
    indexes: [
      {
        name: 'orders_search_idx',
        sql: `-- SearchIndex
CREATE INDEX CONCURRENTLY IF NOT EXISTS "orders_search_idx" ON "orders" USING gin ((' ' || "name_key" || ' ' || "note_key") gin_trgm_ops);
`,
      },
    ],
  })
  expect(matchesAfter(history + both.sqlite, `UPDATE orders SET note_key = 'the lamp'`)).toEqual([1, 2])
  const removed = withSearchIndexes(history, { ...none, sqlite: 'DROP TABLE orders;' }, '')
  expect(removed.postgresql).toContain('DROP INDEX IF EXISTS "orders_search_idx"')
  const database = new Sqlite(':memory:')
  database.exec(history + removed.sqlite)
  expect(database.prepare('SELECT name FROM sqlite_schema').all()).toEqual([])
})

/** The ids of the orders that the index finds for "lamp": of two orders, one has that name. */
function matchesAfter(sql: string, change: string): unknown[] {
  const database = new Sqlite(':memory:')
  database.exec(sql)
  database.exec(`INSERT INTO orders (id, name_key) VALUES (1, 'old lamp'), (2, 'rug'); ${change}`)
  return database.prepare(`SELECT rowid FROM orders_search WHERE orders_search MATCH 'lam'`).pluck().all()
}
