import { databaseFile } from './database-file.ts'
import type { Tables } from './index.ts'
import { sqlTables } from './sql-table.ts'
import type { Statement } from './sql-text.ts'
import { SqliteConnection } from './sqlite-connection.ts'

/** How SQLite goes about a query. */
export interface Plan {
  sql: string
  /** `SEARCH users USING INDEX users_role_id_idx (role=?)`, and what else it does. */
  steps: string[]
}

/**
 * Tables to read from, by prepared statements, with the plan of every query that is made.
 *
 * @param url of a SQLite database that exists
 */
export function explainedTables(url: string): { read: Tables; plans: Plan[]; close: () => void } {
  const connection = new SqliteConnection(databaseFile(url), { readonly: true })
  const plans: Plan[] = []
  const all = (statement: Statement) => {
    const { text, values } = statement
    const steps = connection.all({ text: `EXPLAIN QUERY PLAN ${text}`, values }) as { detail: string }[]
    plans.push({ sql: text, steps: steps.map(({ detail }) => detail) })
    return connection.all(statement)
  }
  const read = sqlTables({
    isRemote: false,
    all,
    run: (statement) => connection.run(statement),
    insert: (insertion, rows) => connection.insert(insertion, rows),
  })
  return { read, plans, close: () => connection.close() }
}
