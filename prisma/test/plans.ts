import { databaseFile } from '../src/database-file.ts'
import { openPool } from '../src/postgres/pool.ts'
import { PreparedStatements } from '../src/postgres/prepared-statements.ts'
import { isPostgresUrl, readPostgresUrl } from '../src/postgres/url.ts'
import { sqlTables } from '../src/sql-table.ts'
import type { Statement } from '../src/sql-text.ts'
import { SqliteConnection } from '../src/sqlite-connection.ts'
import { declarations, type Tables } from '../src/tables.ts'

/** The name of every table in SQL. */
export const tableNames = Object.values(declarations).map(({ name }) => name)

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
      planOfSqlite(
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
function planOfSqlite(sql: string, steps: string[]): Plan {
  const sortsTies = steps.includes('USE TEMP B-TREE FOR LAST TERM OF ORDER BY')
  const sorts = steps.includes('USE TEMP B-TREE FOR ORDER BY') ? 'all' : sortsTies ? 'ties' : 'nothing'
  return { sql, isLed: steps.some((step) => step.startsWith('SEARCH ')), sorts, steps }
}

// Of few rows it is cheapest to read all and sort them: so the plan tells what an index can do, not what it costs.
const ONLY_INDEXES = '-c enable_seqscan=off -c enable_bitmapscan=off -c enable_sort=off'

interface Node {
  'Node Type': string
  'Index Name'?: string
  'Index Cond'?: string
  Filter?: string
  Plans?: Node[]
}

interface Explained {
  'QUERY PLAN': [{ Plan: Node }]
}

/** The tables of a PostgreSQL database with the plans of what is read, where only indexes may serve. */
function explainedPostgres(url: string): ExplainedTables {
  const options = new URL(url)
  options.searchParams.set('options', ONLY_INDEXES)
  const pool = openPool(readPostgresUrl(options.href), { poolSize: 1 })
  const statements = new PreparedStatements(pool, true)
  const plans: Plan[] = []
  const all = async (statement: Statement) => {
    const { text, values } = statement
    const rows = (await statements.all({ text: `EXPLAIN (FORMAT JSON) ${text}`, values })) as unknown as [Explained]
    plans.push(planOfPostgres(text, withInner(rows[0]['QUERY PLAN'][0].Plan)))
    return statements.all(statement)
  }
  const read = sqlTables({
    isRemote: true,
    all,
    run: (statement) => statements.run(statement),
    insert: (...parameters) => statements.insert(...parameters),
  })
  return { read, plans, close: () => pool.end() }
}

function withInner(node: Node): Node[] {
  return [node, ...(node.Plans ?? []).flatMap(withInner)]
}

/** Whether a node gives no more rows than a page has. */
function isPage({ 'Node Type': type, Plans: inner = [] }: Node): boolean {
  return type === 'Limit' || (inner.length > 0 && inner.every(isPage))
}

function planOfPostgres(sql: string, nodes: Node[]): Plan {
  // What a page has may be sorted, and so may the pages of two ranges together.
  const types = new Set(nodes.filter(({ Plans: inner = [] }) => !inner.every(isPage)).map((node) => node['Node Type']))
  return {
    sql,
    isLed: nodes.some((node) => node['Index Cond'] !== undefined),
    sorts: types.has('Sort') ? 'all' : types.has('Incremental Sort') ? 'ties' : 'nothing',
    steps: nodes.map((node) =>
      [node['Node Type'], node['Index Name'], node['Index Cond'], node.Filter].filter(Boolean).join(' '),
    ),
  }
}
