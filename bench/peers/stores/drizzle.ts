import Sqlite from 'better-sqlite3'
import { and, asc, desc, eq, sql } from 'drizzle-orm'
import { drizzle as drizzleSqlite } from 'drizzle-orm/better-sqlite3'
import { drizzle as drizzlePg, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import * as pg from 'drizzle-orm/pg-core'
import * as sqlite from 'drizzle-orm/sqlite-core'
import { databaseFile, databaseUrl, engine, poolSize } from '../settings.ts'
import { bookRow, itemRow, type Store, sorting, userRows } from './store.ts'

const pgTables = {
  users: pg.pgTable('users', {
    id: pg.serial().primaryKey(),
    name: pg.text().notNull(),
    name_key: pg.text().notNull(),
    email: pg.text().notNull(),
    email_key: pg.text().notNull(),
    password_hash: pg.text(),
    role: pg.text().notNull(),
    status: pg.text().notNull(),
    age: pg.integer(),
    version: pg.integer().notNull().default(1),
    created_at: pg.timestamp({ precision: 3 }).notNull(),
    updated_at: pg.timestamp({ precision: 3 }).notNull(),
  }),
  books: pg.pgTable('books', {
    id: pg.serial().primaryKey(),
    title: pg.text().notNull(),
    title_key: pg.text().notNull(),
    author: pg.text().notNull(),
    author_key: pg.text().notNull(),
    published_date: pg.text().notNull(),
    version: pg.integer().notNull().default(1),
  }),
  items: pg.pgTable('items', {
    id: pg.serial().primaryKey(),
    name: pg.text().notNull(),
    name_key: pg.text().notNull(),
    price: pg.doublePrecision().notNull(),
    category: pg.text(),
    version: pg.integer().notNull().default(1),
  }),
}

const sqliteTables = {
  users: sqlite.sqliteTable('users', {
    id: sqlite.integer().primaryKey({ autoIncrement: true }),
    name: sqlite.text().notNull(),
    name_key: sqlite.text().notNull(),
    email: sqlite.text().notNull(),
    email_key: sqlite.text().notNull(),
    password_hash: sqlite.text(),
    role: sqlite.text().notNull(),
    status: sqlite.text().notNull(),
    age: sqlite.integer(),
    version: sqlite.integer().notNull().default(1),
    created_at: sqlite.integer({ mode: 'timestamp_ms' }).notNull(),
    updated_at: sqlite.integer({ mode: 'timestamp_ms' }).notNull(),
  }),
  books: sqlite.sqliteTable('books', {
    id: sqlite.integer().primaryKey({ autoIncrement: true }),
    title: sqlite.text().notNull(),
    title_key: sqlite.text().notNull(),
    author: sqlite.text().notNull(),
    author_key: sqlite.text().notNull(),
    published_date: sqlite.text().notNull(),
    version: sqlite.integer().notNull().default(1),
  }),
  items: sqlite.sqliteTable('items', {
    id: sqlite.integer().primaryKey({ autoIncrement: true }),
    name: sqlite.text().notNull(),
    name_key: sqlite.text().notNull(),
    price: sqlite.real().notNull(),
    category: sqlite.text(),
    version: sqlite.integer().notNull().default(1),
  }),
}

export function drizzleStore(): Store {
  const { db, users, books, items } = engine === 'sqlite' ? openSqlite() : openPostgresql()
  const byId = db
    .select()
    .from(users)
    .where(eq(users.id, sql.placeholder('id')))
    .prepare('user_by_id')
  return {
    findUser: async (id) => {
      const [user] = await byId.execute({ id })
      if (user === undefined) return undefined
      const { name, email, role, status, age, created_at, updated_at, version } = user
      const times = { created_at: created_at.toISOString(), updated_at: updated_at.toISOString() }
      return { id, name, email, role, status, age, ...times, version }
    },

    listUsers: async ({ role, status, age, page, limit, sort }) => {
      const { column, direction } = sorting(sort)
      const order = direction === 'asc' ? asc : desc
      return db
        .select({ id: users.id, name: users.name, email: users.email, role: users.role })
        .from(users)
        .where(
          and(
            role && eq(users.role, role),
            status && eq(users.status, status),
            age === undefined ? undefined : eq(users.age, age),
          ),
        )
        .orderBy(...(column === 'id' ? [order(users.id)] : [order(users[column]), asc(users.id)]))
        .limit(limit)
        .offset((page - 1) * limit)
    },

    insertBook: async (book) => {
      const { id, title, author, published_date } = books
      const [row] = await db.insert(books).values(bookRow(book)).returning({ id, title, author, published_date })
      return row as NonNullable<typeof row>
    },

    updateItem: async (id, changes) => {
      const [row] = await db
        .update(items)
        // Drizzle ignores undefined values.
        .set({ ...itemRow(changes), version: sql`${items.version} + 1` })
        .where(eq(items.id, id))
        .returning({ id: items.id, name: items.name, price: items.price, category: items.category })
      return row
    },

    insertUsers: async (input) => {
      const { id, name, email, role, created_at } = users
      try {
        const rows = await db
          .insert(users)
          .values(await userRows(input))
          .returning({ id, name, email, role, created_at })
        return rows
          .sort((a, b) => a.id - b.id)
          .map(({ created_at, ...row }) => ({ ...row, created_at: created_at.toISOString() }))
      } catch (error) {
        if (isUniqueViolation(error)) return undefined
        throw error
      }
    },
  }
}

type OpenDatabase = typeof pgTables & { db: NodePgDatabase }

// Drizzle's queries are the same on both engines; only the types differ.
function openSqlite(): OpenDatabase {
  const connection = new Sqlite(databaseFile)
  connection.pragma('journal_mode = WAL')
  connection.pragma('synchronous = FULL')
  return { db: drizzleSqlite({ client: connection }), ...sqliteTables } as never
}

function openPostgresql(): OpenDatabase {
  return { db: drizzlePg({ connection: { connectionString: databaseUrl, max: poolSize } }), ...pgTables }
}

function isUniqueViolation(error: unknown): boolean {
  const { code, cause } = error as { code?: string; cause?: { code?: string } }
  return [code, cause?.code].some((found) => found === 'SQLITE_CONSTRAINT_UNIQUE' || found === '23505')
}
