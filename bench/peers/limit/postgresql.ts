import pg from 'pg'
import { databaseUrl, poolSize } from '../settings.ts'
import { bookRow, itemRow, userRows } from '../stores/store.ts'
import type { Database } from './sqlite.ts'

/** Named statements: PostgreSQL prepares each once per connection. */
export function postgresqlDatabase(): Database {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: poolSize })
  const rows = async (name: string, text: string, values: unknown[]) => (await pool.query({ name, text, values })).rows
  return {
    findUser: async (id) => {
      const [user] = await rows(
        'user',
        'SELECT id, name, email, role, status, age, created_at, updated_at, version FROM users WHERE id = $1',
        [id],
      )
      return user
    },

    listUsers: ({ where, column, direction, limit, offset }) => {
      const names = Object.keys(where)
      const filter = names.length === 0 ? '' : `WHERE ${names.map((name, i) => `${name} = $${i + 3}`).join(' AND ')}`
      return rows(
        `users ${names} ${column} ${direction}`,
        `SELECT id, name, email, role FROM users ${filter} ORDER BY ${column} ${direction}, id LIMIT $1 OFFSET $2`,
        [limit, offset, ...Object.values(where)],
      )
    },

    insertBook: async (newBook) => {
      const { title, title_key, author, author_key, published_date } = bookRow(newBook)
      const [book] = await rows(
        'new book',
        'INSERT INTO books (title, title_key, author, author_key, published_date) VALUES ($1, $2, $3, $4, $5) RETURNING id',
        [title, title_key, author, author_key, published_date],
      )
      return book.id
    },

    updateItem: async (id, changes) => {
      const { name, name_key, price, category } = itemRow(changes)
      const [item] = await rows(
        'item',
        `UPDATE items SET name = coalesce($2, name), name_key = coalesce($6, name_key), price = coalesce($3, price),
           category = CASE WHEN $4 THEN $5 ELSE category END, version = version + 1
         WHERE id = $1 RETURNING id, name, price, category`,
        [id, name, price, category !== undefined, category, name_key],
      )
      return item
    },

    insertUsers: async (users, now) => {
      const values = await userRows(users)
      const column = (name: keyof (typeof values)[number]) => values.map((row) => row[name])
      try {
        const inserted = await rows(
          'new users',
          `INSERT INTO users (name, name_key, email, email_key, password_hash, role, status, age, created_at, updated_at)
           SELECT *, $9::timestamp, $9::timestamp FROM
             unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[]) RETURNING id`,
          [
            column('name'),
            column('name_key'),
            column('email'),
            column('email_key'),
            column('password_hash'),
            column('role'),
            column('status'),
            column('age'),
            new Date(now),
          ],
        )
        return inserted.map(({ id }) => id).sort((a, b) => a - b)
      } catch (error) {
        if ((error as { code?: string }).code === '23505') return undefined
        throw error
      }
    },
  }
}
