import { columnTypes } from '../column-types.ts'
import { type Insertion, quote, type Statement } from '../sql-text.ts'

const manyTexts = new Map<string, string>()

/**
 * Inserts a row and gives it. Where a unique value is taken it gives nothing: an error would undo the transaction it
 * is in.
 *
 * @param returning what is given of the row
 */
export function insertOne(insertion: Insertion, values: unknown[], returning: string): Statement {
  return { text: `${insertion.text}${orNothing(returning)}`, values }
}

/**
 * Inserts rows by one statement, whose text is the same for any number; ids are given in their order. A value that all
 * of them share is sent once.
 */
export function insertMany(insertion: Insertion, rows: unknown[][], returning: string): Statement {
  const columns = insertion.columns.map((_, place) => rows.map((row) => row[place]))
  // The first column tells how many rows there are.
  const areShared = columns.map((values, place) => place > 0 && values.every((value) => value === values[0]))
  const shared = columns.filter((_, place) => areShared[place]).map(([value]) => value)
  const own = columns.filter((_, place) => !areShared[place])
  return { text: manyText(insertion, areShared, returning), values: [...shared, ...own] }
}

function manyText({ table, columns }: Insertion, areShared: boolean[], returning: string): string {
  const shape = `${table} ${returning} ${areShared.map(Number).join('')}`
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
    WITH ORDINALITY AS given (${given}, ordinal) ORDER BY ordinal${orNothing(returning)}`
  manyTexts.set(shape, text)
  return text
}

/** What tells which rows are stored: their ids, and their values in the columns that {@link identifying} gives. */
export function whatIsStored(insertion: Insertion): string {
  const columns = identifying(insertion)
  return (insertion.hasId ? ['id', ...columns] : columns).map(quote).join(', ')
}

/** The columns that keep a row from being stored where another one has the same values. */
export function identifying({ unique }: Insertion): string[] {
  return [...new Set(unique.flat())]
}

/** Finds a row that has the values of `row` in some columns, of which at most one row has them. */
export function sameRow({ table, columns }: Insertion, row: unknown[], unique: string[]): Statement {
  const tests = unique.map((name) => `${quote(name)} = ?`).join(' AND ')
  const values = unique.map((name) => row[columns.findIndex((column) => column.name === name)])
  return { text: `SELECT 1 FROM ${quote(table)} WHERE ${tests}`, values }
}

function orNothing(returning: string): string {
  return ` ON CONFLICT DO NOTHING RETURNING ${returning}`
}
