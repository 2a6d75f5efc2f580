import { readFileSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { lossesIn, readRename, renamingSql } from '../scripts/losses.ts'
import { modelsFile } from '../scripts/models.ts'
import { historySql, schemaDifference } from '../scripts/schema-engine.ts'
import { emptyDatabase } from '../test/postgres.ts'

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
