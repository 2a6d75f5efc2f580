import Sqlite from 'better-sqlite3'
import type { Item, ItemChanges, NewBook, NewUser } from '../schemas.ts'
import { databaseFile } from '../settings.ts'
import { bookRow, itemRow, userRows } from '../stores/store.ts'
import type { Query } from './checks.ts'

export interface User {
  id: number
  name: string
  email: string
  role: string
  status: string
  age: number | null
  created_at: number | Date
  updated_at: number | Date
  version: number
}

type Maybe<T> = T | Promise<T>

/** Returns rows as the driver delivers them; synchronously on SQLite. */
export interface Database {
  findUser: (id: number) => Maybe<User | undefined>
  listUsers: (query: Query) => Maybe<Pick<User, 'id' | 'name' | 'email' | 'role'>[]>
  /** @returns the new id */
  insertBook: (book: NewBook) => Maybe<number>
  updateItem: (id: number, changes: ItemChanges) => Maybe<Item | undefined>
  /** @returns the new ids in the order of `users`; undefined when an e-mail address is in use */
  insertUsers: (users: NewUser[], now: number) => Maybe<number[] | undefined>
}

export function sqliteDatabase(): Database {
  const db = new Sqlite(databaseFile)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  const userById = db.prepare<[number], User>(
    'SELECT id, name, email, role, status, age, created_at, updated_at, version FROM users WHERE id = ?',
  )
  const newBook = db.prepare(
    'INSERT INTO books (title, title_key, author, author_key, published_date) VALUES (?, ?, ?, ?, ?)',
  )
  // Missing fields keep their values. A null category is a value, so a flag distinguishes it from a missing one.
  const itemById = db.prepare<
    [string | undefined, string | undefined, number | undefined, number, string | null, number],
    Item
  >(
    `UPDATE items SET name = coalesce(?, name), name_key = coalesce(?, name_key), price = coalesce(?, price), category = iif(?, ?, category),
       version = version + 1 WHERE id = ? RETURNING id, name, price, category`,
  )
  const newUser = db.prepare(
    `INSERT INTO users (name, name_key, email, email_key, password_hash, role, status, age, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const lists = new Map<string, Sqlite.Statement<unknown[], User>>()
  const insertAll = db.transaction((rows: Awaited<ReturnType<typeof userRows>>, now: number) =>
    rows.map(({ name, name_key, email, email_key, password_hash, role, status, age }) =>
      Number(newUser.run(name, name_key, email, email_key, password_hash, role, status, age, now, now).lastInsertRowid),
    ),
  )
  return {
    findUser: (id) => userById.get(id),

    listUsers: ({ where, column, direction, limit, offset }) => {
      const names = Object.keys(where)
      const key = `${names} ${column} ${direction}`
      let statement = lists.get(key)
      if (statement === undefined) {
        // The unary plus keeps SQLite from re-preparing the statement when a bound value changes.
        const filter = names.length === 0 ? '' : `WHERE ${names.map((name) => `${name} = +?`).join(' AND ')}`
        statement = db.prepare(
          `SELECT id, name, email, role FROM users ${filter} ORDER BY ${column} ${direction}, id LIMIT +? OFFSET +?`,
        )
        lists.set(key, statement)
      }
      return statement.all(...Object.values(where), limit, offset)
    },

    insertBook: (book) => {
      const { title, title_key, author, author_key, published_date } = bookRow(book)
      return Number(newBook.run(title, title_key, author, author_key, published_date).lastInsertRowid)
    },

    updateItem: (id, changes) => {
      const { name, name_key, price, category } = itemRow(changes)
      return itemById.get(name, name_key, price, category === undefined ? 0 : 1, category ?? null, id)
    },

    insertUsers: async (users, now) => {
      const rows = await userRows(users)
      try {
        return insertAll.immediate(rows, now)
      } catch (error) {
        if ((error as { code?: string }).code === 'SQLITE_CONSTRAINT_UNIQUE') return undefined
        throw error
      }
    },
  }
}
