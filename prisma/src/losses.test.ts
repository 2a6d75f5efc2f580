import { readFileSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { breaksIn, lossesIn, readRename, renamingSql } from '../scripts/losses.ts'
import { modelsFile } from '../scripts/models.ts'
import { historySql, migrationsFolder, schemaDifference } from '../scripts/schema-engine.ts'
import { withSearchIndexes } from '../scripts/search-index.ts'
import { emptyDatabase } from '../test/postgres.ts'
import { isCompatible, readMigrations } from './migration-history.ts'

const models = readFileSync(modelsFile, 'utf8')
const item = /model Item \{[^}]*\}/
const withTopic = models.replace(item, (model) => model.replaceAll(/\bcategory\b/g, 'topic'))
const renames = [{ table: 'items', from: 'category', to: 'topic' }]

test('a renamed column is a loss', async () => {
  const sql = await schemaDifference('postgresql', (await emptyDatabase()).url, { models: withTopic })
  expect(lossesIn(sql ?? '')).toEqual(['items.category'])
})

test('with the rename, a renamed column is none', async () => {
  const sql = await schemaDifference('postgresql', (await emptyDatabase()).url, { models: withTopic, renames })
  expect(lossesIn(sql ?? '')).toEqual([])
  expect(sql).toMatch(/^ALTER TABLE "items" RENAME COLUMN "category" TO "topic";\n/)
})

test('a migration with a rename keeps the data of the column', async () => {
  const database = new Sqlite(':memory:')
  database.exec(historySql('sqlite'))
  database.exec(`INSERT INTO items (name, price, category) VALUES ('Lamp', 24.5, 'lighting')`)
  database.exec((await schemaDifference('sqlite', ':memory:', { models: withTopic, renames })) ?? '')
  expect(database.prepare('SELECT name, price, topic FROM items').all()).toEqual([
    { name: 'Lamp', price: 24.5, topic: 'lighting' },
  ])
  database.close()
})

test('a dropped table, several dropped columns and a changed type are losses, a new column is none', () => {
  const sql = `-- DropTable
DROP TABLE "books";
-- AlterTable
ALTER TABLE "items" DROP COLUMN "category",
DROP COLUMN "price",
ADD COLUMN     "price" TEXT NOT NULL;
ALTER TABLE "users" ADD COLUMN     "nick" TEXT;
DROP INDEX "items_category_id_idx";
`
  expect(lossesIn(sql)).toEqual(['items.category', 'items.price', 'books'])
})

test('a rename reads as table.old=new', () => {
  expect(readRename('items.category=topic')).toEqual(renames[0])
  expect(renamingSql(renames)).toBe('ALTER TABLE "items" RENAME COLUMN "category" TO "topic";\n')
  for (const text of ['items.category', 'category=topic', 'items.a=b; DROP TABLE items', '']) {
    expect(readRename(text)).toBeUndefined()
  }
})

test('earlier versions work with new tables, optional columns, columns with a default, references and indexes', () => {
  const sql = `-- AlterTable
ALTER TABLE "items" ADD COLUMN     "color" TEXT COLLATE "C",
ADD COLUMN     "size" INTEGER NOT NULL DEFAULT 1;
-- CreateTable
CREATE TABLE "orders" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL
);
CREATE UNIQUE INDEX "orders_reference_key" ON "orders"("reference");
CREATE INDEX CONCURRENTLY IF NOT EXISTS "items_color_id_idx" ON "items"("color", "id");
-- AddForeignKey
ALTER TABLE "orders" ADD CONSTRAINT "orders_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "items" ADD CONSTRAINT "items_owner_fkey" FOREIGN KEY ("owner") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
`
  expect(breaksIn(sql)).toEqual([])
})

test.each([
  'ALTER TABLE "items" ADD COLUMN     "color" TEXT NOT NULL',
  'ALTER TABLE "items" ALTER COLUMN "category" SET NOT NULL',
  'ALTER TABLE "items" RENAME COLUMN "category" TO "topic"',
  'ALTER TABLE "items" ADD COLUMN     "color" TEXT,\nDROP COLUMN "category"',
  'CREATE UNIQUE INDEX "items_name_key" ON "items"("name")',
  'DROP INDEX "items_category_id_idx"',
  'DROP TABLE "books"',
  'ALTER TABLE "orders" ADD CONSTRAINT "orders_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE',
])('earlier versions could fail after %s', (statement) => {
  expect(breaksIn(`CREATE TABLE "orders" ();\n${statement};\n`)).toEqual([statement])
})

test('earlier versions would not fill a new search index of an old table', () => {
  const sql = withSearchIndexes('', { sqlite: historySql('sqlite'), postgresql: '' }, models).postgresql
  expect(breaksIn(sql)).toEqual(
    ['users', 'books', 'items'].map((table) => expect.stringContaining(`"${table}_search_idx"`)),
  )
})

test('every migration that is named compatible consists of additions', () => {
  const compatible = readMigrations(migrationsFolder('postgresql')).filter(({ name }) => isCompatible(name))
  expect(compatible.flatMap(({ sql }) => breaksIn(sql))).toEqual([])
})
