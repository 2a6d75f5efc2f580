// The records of a dataset: record n of each resource as it appears in responses. seedStatements creates the same in SQL.

const FIRST_SECOND = Date.UTC(2026, 0, 1)

const time = (n: number) => new Date(FIRST_SECOND + n * 1000).toISOString()

export function userSummary(n: number) {
  return { id: n, name: `User ${n}`, email: `user${n}@example.com`, role: n % 10 === 0 ? 'admin' : 'user' }
}

export function userDetail(n: number) {
  return { ...userSummary(n), created_at: time(n) }
}

export function fullUser(n: number) {
  return {
    ...userSummary(n),
    status: n % 3 === 0 ? 'inactive' : 'active',
    age: n % 7 === 0 ? null : n % 90,
    created_at: time(n),
    updated_at: time(n),
    version: 1,
  }
}

export function item(n: number) {
  return { id: n, name: `Item ${n}`, price: (n % 10_000) / 4, category: `category ${n % 50}` }
}

/**
 * The SQL statements that fill the three tables.
 *
 * @param numbers a query that returns `n` from 1 to the number of rows
 * @param timestamp a SQL expression for the time of record `n`
 */
export function seedStatements(numbers: string, timestamp: string): string[] {
  return [
    `INSERT INTO users (id, name, name_key, email, email_key, role, status, age, created_at, updated_at)
     SELECT n, 'User ' || n, 'user ' || n, 'user' || n || '@example.com', 'user' || n || '@example.com',
       CASE n % 10 WHEN 0 THEN 'admin' ELSE 'user' END, CASE n % 3 WHEN 0 THEN 'inactive' ELSE 'active' END,
       CASE n % 7 WHEN 0 THEN NULL ELSE n % 90 END, ${timestamp}, ${timestamp} FROM (${numbers}) AS numbers`,
    `INSERT INTO books (id, title, title_key, author, author_key, published_date)
     SELECT n, 'Book ' || n, 'book ' || n, 'Author ' || (n % 1000), 'author ' || (n % 1000), '2001-02-03' FROM (${numbers}) AS numbers`,
    `INSERT INTO items (id, name, name_key, price, category)
     SELECT n, 'Item ' || n, 'item ' || n, (n % 10000) / 4.0, 'category ' || (n % 50) FROM (${numbers}) AS numbers`,
  ]
}

/** Time of record 0, in Unix milliseconds; record n is n seconds later. */
export const firstTime = FIRST_SECOND
