import { type Insertion, quote, type Statement } from '../sql-text.ts'
import type { Kind } from '../table.ts'

const types: Record<Kind, string> = {
  int: 'int',
  'int?': 'int',
  float: 'float8',
  text: 'text',
  'text?': 'text',
  date: 'timestamp',
  'date?': 'timestamp',
}

const manyTexts = new Map<string, string>()

/**
 * Inserts a row and gives what the engine gave it. Where a unique value is taken it gives nothing: an error would undo
 * the transaction it is in.
 */
export function insertOne(insertion: Insertion, values: unknown[]): Statement {
  return { text: `${insertion.text}${whatIsStored(insertion)}`, values }
}

/** Inserts rows by one statement, whose text is the same for any number; ids are given in their order. */
export function insertMany(insertion: Insertion, rows: unknown[][]): Statement {
  const values = insertion.columns.map((_, place) => rows.map((row) => row[place]))
  return { text: manyText(insertion), values }
}

function manyText(insertion: Insertion): string {
  const known = manyTexts.get(insertion.table)
  if (known !== undefined) return known
  const names = insertion.columns.map(({ name }) => quote(name)).join(', ')
  const arrays = insertion.columns.map(({ kind }) => `?::${types[kind]}[]`).join(', ')
  const text = `INSERT INTO ${quote(insertion.table)} (${names}) SELECT ${names} FROM unnest(${arrays})
    WITH ORDINALITY AS given (${names}, ordinal) ORDER BY ordinal${whatIsStored(insertion)}`
  manyTexts.set(insertion.table, text)
  return text
}

function whatIsStored({ hasId, unique }: Insertion): string {
  const columns = hasId ? ['id', ...unique] : unique
  return ` ON CONFLICT DO NOTHING RETURNING ${columns.map(quote).join(', ')}`
}
