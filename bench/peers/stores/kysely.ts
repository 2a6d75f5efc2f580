import Sqlite from 'better-sqlite3'
import { type Generated, Kysely, PostgresDialect, SqliteDialect } from 'kysely'
import pg from 'pg'
import { databaseFile, databaseUrl, engine, poolSize } from '../settings.ts'
import { bookRow, itemRow, type Store, sorting, userRows } from './store.ts'

interface Tables {
  users: {
    id: Generated<number>
    name: string
    name_key: string
    email: string
    email_key: string
    password_hash: string | null
    role: string
    status: string
    age: number | null
    version: Generated<number>
    created_at: Time
    updated_at: Time
  }
  books: {
    id: Generated<number>
    title: string
    title_key: string
    author: string
    author_key: string
    published_date: string
    version: Generated<number>
  }
  items: {
    id: Generated<number>
    name: string
    name_key: string
    price: number
    category: string | null
    version: Generated<number>
  }
}

/** Unix milliseconds in SQLite. */
type Time = number | Date

const toTime = (date: Date): Time => (engine === 'sqlite' ? date.getTime() : date)
const toText = (time: Time) => new Date(time).toISOString()

export function kyselyStore(): Store {
  const db = new Kysely<Tables>({ dialect: engine === 'sqlite' ? openSqlite() : openPostgresql() })
  return {
    findUser: async (id) => {
      const user = await db
        .selectFrom('users')
        .select(['id', 'name', 'email', 'role', 'status', 'age', 'created_at', 'updated_at', 'version'])
        .where('id', '=', id)
        .executeTakeFirst()
      return user && { ...user, created_at: toText(user.created_at), updated_at: toText(user.updated_at) }
    },

    listUsers: ({ role, status, age, page, limit, sort }) => {
      const { column, direction } = sorting(sort)
      return db
        .selectFrom('users')
        .select(['id', 'name', 'email', 'role'])
        .$if(role !== undefined, (query) => query.where('role', '=', role as string))
        .$if(status !== undefined, (query) => query.where('status', '=', status as string))
        .$if(age !== undefined, (query) => query.where('age', '=', age as number))
        .orderBy(column, direction)
        .$if(column !== 'id', (query) => query.orderBy('id'))
        .limit(limit)
        .offset((page - 1) * limit)
        .execute()
    },

    insertBook: (book) =>
      db
        .insertInto('books')
        .values(bookRow(book))
        .returning(['id', 'title', 'author', 'published_date'])
        .executeTakeFirstOrThrow(),

    updateItem: (id, changes) =>
      db
        .updateTable('items')
        // Kysely ignores undefined values.
        .set((eb) => ({ ...itemRow(changes), version: eb('version', '+', 1) }))
        .where('id', '=', id)
        .returning(['id', 'name', 'price', 'category'])
        .executeTakeFirst(),

    insertUsers: async (users) => {
      const values = (await userRows(users)).map((row) => ({
        ...row,
        created_at: toTime(row.created_at),
        updated_at: toTime(row.updated_at),
      }))
      try {
        const rows = await db
          .insertInto('users')
          .values(values)
          .returning(['id', 'name', 'email', 'role', 'created_at'])
          .execute()
        return rows.sort((a, b) => a.id - b.id).map((row) => ({ ...row, created_at: toText(row.created_at) }))
      } catch (error) {
        const { code } = error as { code?: string }
        if (code === 'SQLITE_CONSTRAINT_UNIQUE' || code === '23505') return undefined
        throw error
      }
    },
  }
}

function openSqlite() {
  const database = new Sqlite(databaseFile)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  return new SqliteDialect({ database })
}

function openPostgresql() {
  return new PostgresDialect({ pool: new pg.Pool({ connectionString: databaseUrl, max: poolSize }) })
}
