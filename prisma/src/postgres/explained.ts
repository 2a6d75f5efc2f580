import { sqlTables } from '../sql-table.ts'
import type { Statement } from '../sql-text.ts'
import type { ExplainedTables, Plan } from '../testing.ts'
import { openPool } from './pool.ts'
import { PreparedStatements } from './prepared-statements.ts'
import { readPostgresUrl } from './url.ts'

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
export function explainedPostgres(url: string): ExplainedTables {
  const options = new URL(url)
  options.searchParams.set('options', ONLY_INDEXES)
  const pool = openPool(readPostgresUrl(options.href), { poolSize: 1 })
  const statements = new PreparedStatements(pool, true)
  const plans: Plan[] = []
  const all = async (statement: Statement) => {
    const { text, values } = statement
    const rows = (await statements.all({ text: `EXPLAIN (FORMAT JSON) ${text}`, values })) as unknown as [Explained]
    plans.push(planOf(text, withInner(rows[0]['QUERY PLAN'][0].Plan)))
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

function planOf(sql: string, nodes: Node[]): Plan {
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
