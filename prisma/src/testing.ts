import { databaseFile } from './database-file.ts'
import type { Tables } from './index.ts'
import { explainedPostgres } from './postgres/explained.ts'
import { isPostgresUrl } from './postgres/url.ts'
import { sqlTables } from './sql-table.ts'
import type { Statement } from './sql-text.ts'
import { SqliteConnection } from './sqlite-connection.ts'

/** How an engine goes about a query. */
export interface Plan {
  sql: string
  /** Whether an index leads to the rows, rather than in their order past all of them. */
  isLed: boolean
  /** What is sorted once it is read: all rows, or those that share a value of the sorted column, by id. */
  sorts: 'nothing' | 'ties' | 'all'
  /** In the engine's own words. */
  steps: string[]
}

/** Tables to read from, by prepared statements, with the plan of every query that is made. */
export interface ExplainedTables {
  read: Tables
  plans: Plan[]
  close: () => Promise<void>
}

/** @param url of a database that exists */
export function explainedTables(url: string): ExplainedTables {
  return isPostgresUrl(url) ? explainedPostgres(url) : explainedSqlite(url)
}

function explainedSqlite(url: string): ExplainedTables {
  const connection = new SqliteConnection(databaseFile(url), { readonly: true })
  const plans: Plan[] = []
  const all = (statement: Statement) => {
    const { text, values } = statement
    const steps = connection.all({ text: `EXPLAIN QUERY PLAN ${text}`, values }) as { detail: string }[]
    plans.push(
      planOf(
        text,
        steps.map(({ detail }) => detail),
      ),
    )
    return connection.all(statement)
  }
  const read = sqlTables({
    isRemote: false,
    all,
    run: (statement) => connection.run(statement),
    insert: (insertion, rows, first) => connection.insert(insertion, rows, first),
  })
  return { read, plans, close: async () => connection.close() }
}

// `SEARCH users USING INDEX users_role_id_idx (role=?)`, and what else it does.
function planOf(sql: string, steps: string[]): Plan {
  const sortsTies = steps.includes('USE TEMP B-TREE FOR LAST TERM OF ORDER BY')
  const sorts = steps.includes('USE TEMP B-TREE FOR ORDER BY') ? 'all' : sortsTies ? 'ties' : 'nothing'
  return { sql, isLed: steps.some((step) => step.startsWith('SEARCH ')), sorts, steps }
}
