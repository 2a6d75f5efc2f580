import { openPool } from '../src/postgres/pool.ts'
import { PreparedStatements } from '../src/postgres/statements.ts'
import { isPostgresUrl, readPostgresUrl } from '../src/postgres/url.ts'
import { SqliteConnection } from '../src/sqlite/connection.ts'
import { databaseFile } from '../src/sqlite/file.ts'
import { declarations, type Tables } from '../src/tables/declarations.ts'
import type { Statement } from '../src/tables/sql.ts'
import { sqlTables } from '../src/tables/tables.ts'

/** The SQL names of all tables. */
export const tableNames = Object.values(declarations).map(({ name }) => name)

/** The plan of a query. */
export interface Plan {
  sql: string
  /** Whether an index is searched, not scanned completely. */
  searchesIndex: boolean
  /** What is sorted after reading: all rows, or only those with the same value in the sort column. */
  sorts: 'nothing' | 'ties' | 'all'
  /** The engine's description. */
  steps: string[]
}

/** Read-only tables through prepared statements, and the plans of their queries. */
export interface ExplainedTables {
  read: Tables
  plans: Plan[]
  close: () => Promise<void>
}

/**
 * @param url of an existing database
 * @param planner settings of PostgreSQL's planner
 */
export function explainedTables(url: string, planner = INDEXES_ONLY): ExplainedTables {
  return isPostgresUrl(url) ? explainedPostgres(url, planner) : explainedSqlite(url)
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
    raw: (statement) => connection.raw(statement),
    insert: (insertion, rows, first) => connection.insert(insertion, rows, first),
  })
  return { read, plans, close: async () => connection.close() }
}

// Steps such as `SEARCH users USING INDEX users_role_id_idx (role=?)`.
function planOfSqlite(sql: string, steps: string[]): Plan {
  const sortsTies = steps.includes('USE TEMP B-TREE FOR LAST TERM OF ORDER BY')
  const sorts = steps.includes('USE TEMP B-TREE FOR ORDER BY') ? 'all' : sortsTies ? 'ties' : 'nothing'
  return { sql, searchesIndex: steps.some((step) => step.startsWith('SEARCH ')), sorts, steps }
}

// For few rows PostgreSQL prefers to read and sort all. These settings show what an index can do, not what is cheapest.
const INDEXES_ONLY = '-c enable_seqscan=off -c enable_bitmapscan=off -c enable_sort=off'

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

/** The tables of a PostgreSQL database with the plans of their queries, which use indexes if possible. */
function explainedPostgres(url: string, planner: string): ExplainedTables {
  const options = new URL(url)
  options.searchParams.set('options', planner)
  const pool = openPool(readPostgresUrl(options.href), { poolSize: 1 })
  const statements = new PreparedStatements(pool)
  const plans: Plan[] = []
  const all = async (statement: Statement) => {
    const { text, values } = statement
    const rows = (await statements.all({ text: `EXPLAIN (FORMAT JSON) ${text}`, values })) as unknown as [Explained]
    plans.push(planOfPostgres(text, flattened(rows[0]['QUERY PLAN'][0].Plan)))
    return statements.all(statement)
  }
  const read = sqlTables({
    isRemote: true,
    all,
    run: (statement) => statements.run(statement),
    raw: (statement) => statements.raw(statement),
    insert: (...parameters) => statements.insert(...parameters),
  })
  return { read, plans, close: () => pool.end() }
}

function flattened(node: Node): Node[] {
  return [node, ...(node.Plans ?? []).flatMap(flattened)]
}

/** Whether a node returns no more rows than a page has. */
function isPage({ 'Node Type': type, Plans: inner = [] }: Node): boolean {
  return type === 'Limit' || (inner.length > 0 && inner.every(isPage))
}

function planOfPostgres(sql: string, nodes: Node[]): Plan {
  // The rows of a page may be sorted, and so may the combined pages of two ranges.
  const types = new Set(nodes.filter(({ Plans: inner = [] }) => !inner.every(isPage)).map((node) => node['Node Type']))
  return {
    sql,
    searchesIndex: nodes.some((node) => node['Index Cond'] !== undefined),
    sorts: types.has('Sort') ? 'all' : types.has('Incremental Sort') ? 'ties' : 'nothing',
    steps: nodes.map((node) =>
      [node['Node Type'], node['Index Name'], node['Index Cond'], node.Filter].filter(Boolean).join(' '),
    ),
  }
}
