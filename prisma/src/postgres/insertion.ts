import { UniqueViolation } from '../errors.ts'
import { Recent } from '../recent.ts'
import { columnTypes } from '../tables/column-types.ts'
import type { Executor } from '../tables/executor.ts'
import { type Insertion, quote, type Statement } from '../tables/sql.ts'

type All = (statement: Statement) => Promise<Record<string, unknown>[]>

interface Ending {
  ending: string
  /** The statement for one row. */
  text: string
}

const endings = new WeakMap<Insertion, { returning: string; own: Ending; whole: Ending }>()
const manyTexts = new Recent<string, string>(500)

/** Implements `insert` of an executor with its `all`. */
export function insertWith(all: All): Executor['insert'] {
  return async (insertion, rows, _first, transform) => {
    const [first = []] = rows
    if (rows.length === 0) return []
    const { returning, own, whole } = endingsOf(insertion)
    const { ending, text } = transform === undefined ? own : whole
    const statement = rows.length === 1 ? { text, values: first } : insertMany(insertion, rows, ending)
    const stored = await all(transform?.(statement, returning) ?? statement)
    if (stored.length < rows.length) {
      const index = firstMissing(insertion, rows, stored)
      throw new UniqueViolation(await violatedColumns(all, insertion, rows[index] ?? []), { index })
    }
    const ids = stored.map(({ id }) => id as number)
    // Rows with unique values are not inserted in their order.
    return rows.length > 1 && insertion.unique.length > 0 ? ids.sort((a, b) => a - b) : ids
  }
}

/** How the statements of an insertion end, and the text for one row: the same objects each time, whose hash is known. */
function endingsOf(insertion: Insertion) {
  let known = endings.get(insertion)
  if (known === undefined) {
    // The columns that identify the stored rows.
    const returning = [...(insertion.hasId ? ['id'] : []), ...uniqueColumns(insertion)].map(quote).join(', ')
    const ended = (columns: string) => {
      // A duplicate row is skipped and not returned: an error would abort the transaction.
      const ending = ` ON CONFLICT DO NOTHING RETURNING ${columns}`
      return { ending, text: insertion.text + ending }
    }
    known = { returning, own: ended(returning), whole: ended('*') }
    endings.set(insertion, known)
  }
  return known
}

/**
 * Inserts rows with one statement, whose text does not depend on their number. Ids ascend in the order of the rows. A value
 * that all rows share is sent once.
 */
function insertMany(insertion: Insertion, rows: unknown[][], ending: string): Statement {
  const columns = insertion.columns.map((_, index) => rows.map((row) => row[index]))
  // The first column is always an array: it determines the number of rows.
  const areShared = columns.map((values, index) => index > 0 && values.every((value) => value === values[0]))
  const shared = columns.filter((_, index) => areShared[index]).map(([value]) => value)
  const own = columns.filter((_, index) => !areShared[index])
  const shape = `${insertion.table} ${ending} ${areShared.map(Number).join('')}`
  return { text: manyTexts.get(shape, () => manyText(insertion, areShared, ending)), values: [...shared, ...own] }
}

// Rows with unique values are inserted in the order of these values: two inserts of the same values in different orders would
// deadlock. Their ids are assigned before.
function manyText({ table, columns, hasId, unique }: Insertion, areShared: boolean[], ending: string): string {
  const names = columns.map(({ name }) => quote(name))
  const own = columns.filter((_, index) => !areShared[index])
  const values = columns.map(({ kind }, index) =>
    areShared[index] ? `?::${columnTypes[kind]} AS ${names[index]}` : names[index],
  )
  const arrays = own.map(({ kind }) => `?::${columnTypes[kind]}[]`).join(', ')
  const given = own.map(({ name }) => quote(name)).join(', ')
  const from = `FROM unnest(${arrays}) WITH ORDINALITY AS given (${given}, ordinal) ORDER BY ordinal`
  const [first] = unique
  if (first === undefined)
    return `INSERT INTO ${quote(table)} (${names.join(', ')}) SELECT ${values.join(', ')} ${from}${ending}`
  const inserted = (hasId ? ['"id"', ...names] : names).join(', ')
  const id = hasId ? [`nextval((SELECT pg_get_serial_sequence('${quote(table)}', 'id'))::regclass) AS "id"`] : []
  const numbered = `WITH "numbered" AS MATERIALIZED (SELECT ${[...id, ...values].join(', ')}, ordinal ${from})`
  const order = [...first.map(quote), 'ordinal'].join(', ')
  return `${numbered} INSERT INTO ${quote(table)} (${inserted}) SELECT ${inserted} FROM "numbered" ORDER BY ${order}${ending}`
}

/** All columns with a unique constraint. */
function uniqueColumns({ unique }: Insertion): string[] {
  return [...new Set(unique.flat())]
}

/** Finds a stored row with the values of `row` in the unique columns. */
function sameRow({ table, columns }: Insertion, row: unknown[], unique: string[]): Statement {
  const tests = unique.map((name) => `${quote(name)} = ?`).join(' AND ')
  const values = unique.map((name) => row[columns.findIndex((column) => column.name === name)])
  return { text: `SELECT 1 FROM ${quote(table)} WHERE ${tests}`, values }
}

// ON CONFLICT DO NOTHING does not report the violatedColumns constraint.
async function violatedColumns(all: All, insertion: Insertion, row: unknown[]): Promise<string[]> {
  const [first = [], ...others] = insertion.unique
  if (others.length === 0) return first
  for (const unique of insertion.unique) {
    if ((await all(sameRow(insertion, row, unique))).length > 0) return unique
  }
  return []
}

/** The first row that duplicates a stored row or an earlier row of the insert. */
function firstMissing(insertion: Insertion, rows: unknown[][], stored: Record<string, unknown>[]): number {
  const names = uniqueColumns(insertion)
  const indexes = names.map((name) => insertion.columns.findIndex((column) => column.name === name))
  // A count, because several rows may have only null in the unique columns.
  const remaining = new Map<string, number>()
  for (const row of stored) {
    const values = valuesOf(names.map((name) => row[name]))
    remaining.set(values, (remaining.get(values) ?? 0) + 1)
  }
  return rows.findIndex((row) => {
    const values = valuesOf(indexes.map((index) => row[index]))
    const count = remaining.get(values) ?? 0
    remaining.set(values, count - 1)
    return count <= 0
  })
}

function valuesOf(values: unknown[]): string {
  return JSON.stringify(values.map((value) => (value instanceof Date ? value.getTime() : value)))
}
