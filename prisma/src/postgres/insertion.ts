import { columnTypes } from '../column-types.ts'
import { UniqueViolation } from '../errors.ts'
import type { Executor } from '../sql-table.ts'
import { type Insertion, quote, type Statement } from '../sql-text.ts'

type All = (statement: Statement) => Promise<Record<string, unknown>[]>

const manyTexts = new Map<string, string>()

/** How rows are inserted, by an executor's statements. */
export function insertionBy(all: All): Executor['insert'] {
  return async (insertion, rows, _first, complete) => {
    const [first = []] = rows
    if (rows.length === 0) return []
    // What tells which rows are stored.
    const answer = [...(insertion.hasId ? ['id'] : []), ...identifying(insertion)].map(quote).join(', ')
    // Where a unique value is taken nothing is given: an error would undo the transaction.
    const ending = ` ON CONFLICT DO NOTHING RETURNING ${complete === undefined ? answer : '*'}`
    const statement =
      rows.length === 1 ? { text: insertion.text + ending, values: first } : insertMany(insertion, rows, ending)
    const stored = await all(complete?.(statement, answer) ?? statement)
    if (stored.length < rows.length) {
      const index = firstMissing(insertion, rows, stored)
      throw new UniqueViolation(await violated(all, insertion, rows[index] ?? []), { index })
    }
    return stored.map(({ id }) => id as number)
  }
}

/**
 * Inserts rows by one statement, whose text is the same for any number; ids are given in their order. A value that all
 * of them share is sent once.
 */
function insertMany(insertion: Insertion, rows: unknown[][], ending: string): Statement {
  const columns = insertion.columns.map((_, place) => rows.map((row) => row[place]))
  // The first column tells how many rows there are.
  const areShared = columns.map((values, place) => place > 0 && values.every((value) => value === values[0]))
  const shared = columns.filter((_, place) => areShared[place]).map(([value]) => value)
  const own = columns.filter((_, place) => !areShared[place])
  return { text: manyText(insertion, areShared, ending), values: [...shared, ...own] }
}

function manyText({ table, columns }: Insertion, areShared: boolean[], ending: string): string {
  const shape = `${table} ${ending} ${areShared.map(Number).join('')}`
  const known = manyTexts.get(shape)
  if (known !== undefined) return known
  const names = columns.map(({ name }) => quote(name))
  const own = columns.filter((_, place) => !areShared[place])
  const values = columns
    .map(({ kind }, place) => (areShared[place] ? `?::${columnTypes[kind]}` : names[place]))
    .join(', ')
  const arrays = own.map(({ kind }) => `?::${columnTypes[kind]}[]`).join(', ')
  const given = own.map(({ name }) => quote(name)).join(', ')
  const text = `INSERT INTO ${quote(table)} (${names.join(', ')}) SELECT ${values} FROM unnest(${arrays})
    WITH ORDINALITY AS given (${given}, ordinal) ORDER BY ordinal${ending}`
  manyTexts.set(shape, text)
  return text
}

/** The columns that keep a row from being stored where another one has the same values. */
function identifying({ unique }: Insertion): string[] {
  return [...new Set(unique.flat())]
}

/** Finds a row that has the values of `row` in some columns, of which at most one row has them. */
function sameRow({ table, columns }: Insertion, row: unknown[], unique: string[]): Statement {
  const tests = unique.map((name) => `${quote(name)} = ?`).join(' AND ')
  const values = unique.map((name) => row[columns.findIndex((column) => column.name === name)])
  return { text: `SELECT 1 FROM ${quote(table)} WHERE ${tests}`, values }
}

// PostgreSQL does not name them where it stores nothing.
async function violated(all: All, insertion: Insertion, row: unknown[]): Promise<string[]> {
  const [first = [], ...others] = insertion.unique
  if (others.length === 0) return first
  for (const unique of insertion.unique) {
    if ((await all(sameRow(insertion, row, unique))).length > 0) return unique
  }
  return []
}

/** The first row that another one, stored before or given before it, kept from being stored. */
function firstMissing(insertion: Insertion, rows: unknown[][], stored: Record<string, unknown>[]): number {
  const names = identifying(insertion)
  const places = names.map((name) => insertion.columns.findIndex((column) => column.name === name))
  // Rows whose unique values are all null may be several.
  const left = new Map<string, number>()
  for (const row of stored) {
    const values = valuesOf(names.map((name) => row[name]))
    left.set(values, (left.get(values) ?? 0) + 1)
  }
  return rows.findIndex((row) => {
    const values = valuesOf(places.map((place) => row[place]))
    const count = left.get(values) ?? 0
    left.set(values, count - 1)
    return count <= 0
  })
}

function valuesOf(values: unknown[]): string {
  return JSON.stringify(values.map((value) => (value instanceof Date ? value.getTime() : value)))
}
