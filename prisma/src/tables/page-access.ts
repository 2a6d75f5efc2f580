import type { Access } from './conditions.ts'
import type { Executor } from './executor.ts'
import type { PageRead, ReadStatements } from './read-statements.ts'
import type { Where } from './types.ts'

// Counting these takes a few milliseconds.
const MAX_COUNTED = 20_000

/**
 * What a page reads by SQLite's own choice of indexes.
 *
 * @param text of the statement
 * @param steps its query plan, such as `SEARCH items USING INDEX items_price_id_idx (price<?)`
 */
export function pageReadOf(text: string, steps: string[]): PageRead {
  const [, tests] = / WHERE (.*) ORDER BY /s.exec(text) ?? []
  const served = steps.flatMap((step) => /^SEARCH .*\((.+)\)$/.exec(step)?.[1]?.split(' AND ') ?? [])
  const isServed = served.length === (tests?.split(' AND ').length ?? 0)
  if (!isServed || steps.some((step) => step.startsWith('USE TEMP B-TREE FOR ORDER BY'))) return 'more'
  return steps.some((step) => step.startsWith('USE TEMP B-TREE FOR')) ? 'ties' : 'page'
}

/**
 * The condition that the fewest rows of SQLite fulfill, of those that an index serves; undefined if there is none. `total` is their
 * number, or more than {@link MAX_COUNTED}.
 */
export async function rarestCondition<Row>(
  text: ReadStatements<Row>,
  where: Where<Row>,
  executor: Pick<Executor, 'all'>,
): Promise<{ by: Access<Row>; total: number } | undefined> {
  const accesses = text.accesses(where)
  if (accesses.length === 0) return undefined
  const [counts] = (await executor.all(text.countEach(where, accesses, MAX_COUNTED + 1))) as [Record<string, number>]
  const totals = accesses.map((by, index): { by: Access<Row>; total: number } => ({ by, total: counts[index] ?? 0 }))
  return totals.toSorted((one, other) => one.total - other.total)[0]
}
