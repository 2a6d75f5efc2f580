import { grouped, MAX_SKIPPED } from '@resource/contract'
import { type Entity, type Kind, keysetRanges, type ListTable, type Position, type Where } from '@resource/database'
import { FieldError } from '@resource/openapi'
import { EARLIEST } from './row-mapping.ts'

export interface PageRequest {
  page?: number | undefined
  limit: number
  /** `<attribute>_asc` or `<attribute>_desc`. */
  sort?: string | undefined
  after?: string | undefined
  count: boolean
}

type Listed = Pick<Entity, 'id'>

export interface Page<Row> {
  rows: Row[]
  facts: { page?: number; limit: number; next: string | null; total?: number; searched?: number }
}

const LATEST = Date.parse('9999-12-31T23:59:59.999Z')
const TOO_DEEP = `must be within the first ${grouped(MAX_SKIPPED)} records; to read further, use a cursor: start with after= and follow the next links`
const BY_ID = { column: 'id', descending: false } as const

/**
 * Reads one page of a table, by page number or by cursor.
 *
 * @param where equality and range filters
 * @param sortable the columns of the sortable attributes, by their public names
 * @param shown the attributes of the response; if each is a column, rows have only these and the ones the cursor needs
 * @throws FieldError 400 for a cursor that is invalid or of a different sort, and for a page number too far into the list
 */
export async function readPage<Row extends Listed>(
  table: ListTable<Row>,
  where: Where<Row>,
  sortable: Record<string, keyof Row & string>,
  { page = 1, limit, sort = 'id_asc', after, count }: PageRequest,
  shown?: readonly string[],
): Promise<Page<Row>> {
  const sorting = sortingOf(sort, table, sortable)
  // If a filter fixes the sorted column to one value, the order is by id, so that any index of the filter serves it.
  const order = hasOneValue(where, sorting.column) ? BY_ID : sorting
  const total = count ? await table.count(where) : undefined
  const skip = (page - 1) * limit
  const columns = shown && columnsOf(shown, table, 'id', sorting.column)
  // One more row than requested shows whether there is a next page.
  const query = { columns, where, order, take: limit + 1 }
  let found: Row[] = []
  if (after) {
    const seek = keysetRanges(where, sorting, sorting.kind, readCursor(after, sort, sorting))
    found = await table.page({ ...query, seek })
  } else if (after !== undefined || skip <= MAX_SKIPPED) {
    found = await table.page({ ...query, skip: after === undefined ? skip : 0 })
  } else {
    const [further] = await table.page({ where, order, columns: ['id', sorting.column], skip: MAX_SKIPPED, take: 1 })
    if (further !== undefined) throw new FieldError(400, [{ path: ['page'], message: TOO_DEEP }])
  }
  const rows = found.slice(0, limit)
  const last = found.length > limit ? rows.at(-1) : undefined
  return {
    rows,
    facts: {
      ...(after === undefined && { page }),
      limit,
      next: last === undefined ? null : writeCursor(sort, sorting, last),
      ...(total !== undefined && { total }),
      ...(table.searchLimit !== undefined && isSearch(where) && { searched: table.searchLimit }),
    },
  }
}

/**
 * The columns of `shown` and `others`. Undefined, which means all columns, if an attribute is not a column: it is derived
 * from columns that are not known here.
 */
export function columnsOf<Row extends Listed>(
  shown: readonly string[],
  { columns }: ListTable<Row>,
  ...others: (keyof Row)[]
): readonly (keyof Row)[] | undefined {
  const missing = others.filter((other) => !(shown as readonly PropertyKey[]).includes(other))
  // The same list again, whose SQL is known.
  const wanted: readonly PropertyKey[] = missing.length === 0 ? shown : [...shown, ...missing]
  return wanted.every((name) => Object.hasOwn(columns, name)) ? (wanted as (keyof Row)[]) : undefined
}

interface Sorting<Row> {
  column: keyof Row & string
  kind: Kind
  idKind: Kind
  descending: boolean
}

function sortingOf<Row extends Listed>(
  sort: string,
  { columns }: ListTable<Row>,
  sortable: Record<string, keyof Row & string>,
): Sorting<Row> {
  const split = sort.lastIndexOf('_')
  const column = sortable[sort.slice(0, split)] as keyof Row & string
  return { column, kind: columns[column], idKind: columns.id, descending: sort.slice(split + 1) === 'desc' }
}

function hasOneValue<Row>(where: Where<Row>, column: keyof Row): boolean {
  const wanted: unknown = where[column]
  return wanted !== undefined && (wanted === null || typeof wanted !== 'object' || wanted instanceof Date)
}

function isSearch<Row>(where: Where<Row>): boolean {
  return Object.values(where).some(
    (condition) => typeof condition === 'object' && condition !== null && 'contains' in condition,
  )
}

function writeCursor<Row extends Listed>(sort: string, { column }: Sorting<Row>, row: Row): string {
  const value = row[column]
  const key = value instanceof Date ? value.getTime() : value
  return Buffer.from(JSON.stringify([sort, key, row.id])).toString('base64url')
}

function readCursor<Row>(text: string, sort: string, sorting: Sorting<Row>): Position {
  const [cursorSort, key, id] = parse(text)
  if (!isWhole(id, sorting.idKind) || typeof cursorSort !== 'string')
    throw wrongCursor('must be the cursor of a next link')
  if (cursorSort !== sort) throw wrongCursor(`must be used with the sort it was created with, not with ${sort}`)
  const known = keyOf(key, sorting)
  if (known === undefined) throw wrongCursor('must be the cursor of a next link')
  return { key: known, id }
}

function parse(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

function keyOf<Row>(key: unknown, { kind }: Sorting<Row>): Position['key'] | undefined {
  if (key === null) return kind.endsWith('?') ? null : undefined
  if (kind.startsWith('text')) return isStorable(key) ? key : undefined
  if (kind.startsWith('bool')) return typeof key === 'boolean' ? key : undefined
  if (kind === 'bigint' || kind.startsWith('int')) return isWhole(key, kind) ? key : undefined
  if (typeof key !== 'number' || !Number.isFinite(key)) return undefined
  if (kind === 'float') return key
  return key >= EARLIEST && key <= LATEST ? new Date(key) : undefined
}

function isWhole(value: unknown, kind: Kind): value is number {
  return Number.isSafeInteger(value) && (kind === 'bigint' || Math.abs(value as number) < 2 ** 31)
}

const isStorable = (value: unknown): value is string =>
  typeof value === 'string' && value.isWellFormed() && !value.includes('\0')

function wrongCursor(message: string): FieldError {
  return new FieldError(400, [{ path: ['after'], message }])
}
