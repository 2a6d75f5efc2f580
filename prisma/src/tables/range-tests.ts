import { columnTypes, isBeyondInt, wholeBound } from './column-types.ts'
import { afterPrefix } from './search.ts'
import { numeric } from './sql.ts'
import type { Kind, Range } from './types.ts'

/** Appends a condition, `"price"` and ` < ?`. */
export type AddTest = (tested: string, test: string) => void

const comparisons: [key: 'lt' | 'lte' | 'gt' | 'gte', test: string][] = [
  ['lt', ' < ?'],
  ['lte', ' <= ?'],
  ['gt', ' > ?'],
  ['gte', ' >= ?'],
]

interface Tested {
  /** The quoted name of the column. */
  tested: string
  kind: Kind
  /** Whether the statement is for PostgreSQL, not SQLite. */
  isRemote: boolean
}

/** Appends the conditions of a range of a column, and their values to `values`. */
export function addRange(
  { tested, kind, isRemote }: Tested,
  range: Range<unknown>,
  values: unknown[],
  addTest: AddTest,
): void {
  for (const [key, test] of comparisons) {
    const bound = range[key]
    if (bound === undefined) continue
    const isWide = isRemote && isBeyondInt(bound) && kind.includes('int')
    addTest(tested, isWide ? `${test}::bigint` : test)
    values.push(isWide ? wholeBound(key, bound) : bound)
  }
  const { in: list, startsWith } = range
  // A list is passed as one value, so the text does not depend on its length. Both engines look its values up in an index.
  if (list !== undefined && isRemote) {
    addTest(tested, ` = ANY(?::${columnTypes[kind]}[])`)
    values.push(list)
  } else if (list !== undefined) {
    addTest(tested, ' IN (SELECT value FROM json_each(?))')
    values.push(JSON.stringify(list.map(numeric)))
  }
  if (startsWith === undefined) return
  // A range of code points, which every index on the column serves.
  addTest(tested, ' >= ?')
  values.push(startsWith)
  const end = afterPrefix(startsWith)
  if (end === undefined) return
  addTest(tested, ' < ?')
  values.push(end)
}
