import { Problem } from '@resource/openapi'

/**
 * An attribute a list can be sorted by: its column, and the kind of its values. `?` marks those that may be null, which
 * sort below every value.
 */
export interface SortColumn {
  column: string
  kind: 'int' | 'int?' | 'float' | 'text' | 'text?' | 'date'
}

export interface PageRequest {
  page?: number | undefined
  limit: number
  /** `<attribute>_asc` or `<attribute>_desc`. */
  sort?: string | undefined
  after?: string | undefined
  count: boolean
}

export interface Page<Row> {
  rows: Row[]
  facts: { page?: number; limit: number; next: string | null; total?: number }
}

type Where = Record<string, unknown>

/** The part of a Prisma model's delegate that lists need. */
interface Listable<Row> {
  findMany: (query: { where: Where; orderBy: object[]; skip?: number; take: number }) => PromiseLike<Row[]>
  count: (query: { where: Where }) => PromiseLike<number>
}

// No table holds more records than there are ids, and the engine takes no larger offset.
const LARGEST_OFFSET = 2 ** 31 - 1

/**
 * One page of a table, by page number or by cursor.
 *
 * @param model a Prisma model, as `database.read.user`
 * @param where equality and range filters
 * @param columns the sortable attributes by their public names
 * @throws Problem 400 when it is not a valid cursor, or one of another sort
 */
export async function readPage<Row extends { id: number }>(
  model: unknown,
  where: Where,
  columns: Record<string, SortColumn>,
  { page = 1, limit, sort = 'id_asc', after, count }: PageRequest,
): Promise<Page<Row>> {
  const table = model as Listable<Row>
  const order = orderOf(sort, columns)
  const total = count ? await table.count({ where }) : undefined
  const skip = (page - 1) * limit
  // One more than asked for tells whether anything follows.
  const take = limit + 1
  let found: Row[] = []
  if (after) {
    for (const beyond of beyondCursor(order, readCursor(after, sort, order))) {
      if (found.length === take) break
      found = found.concat(
        await table.findMany({ where: { AND: [where, beyond] }, orderBy: order.by, take: take - found.length }),
      )
    }
  } else if (skip <= LARGEST_OFFSET) {
    found = await table.findMany({ where, orderBy: order.by, skip: after === undefined ? skip : 0, take })
  }
  const rows = found.slice(0, limit)
  const last = found.length > limit ? rows.at(-1) : undefined
  return {
    rows,
    facts: {
      ...(after === undefined && { page }),
      limit,
      next: last === undefined ? null : writeCursor(sort, order, last),
      ...(total !== undefined && { total }),
    },
  }
}

interface Order extends SortColumn {
  ascending: boolean
  nullable: boolean
  by: object[]
}

function orderOf(sort: string, columns: Record<string, SortColumn>): Order {
  const split = sort.lastIndexOf('_')
  const { column, kind } = columns[sort.slice(0, split)] as SortColumn
  const direction = sort.slice(split + 1)
  const ascending = direction === 'asc'
  const nullable = kind.endsWith('?')
  const first = nullable ? { sort: direction, nulls: ascending ? 'first' : 'last' } : direction
  return {
    column,
    kind,
    ascending,
    nullable,
    by: column === 'id' ? [{ id: direction }] : [{ [column]: first }, { id: 'asc' }],
  }
}

type Key = string | number | Date | null

interface Cursor {
  key: Key
  id: number
}

/**
 * What lies beyond a cursor, as conditions to be read one after the other. Each bounds the sorted column by itself, so
 * that an index leads straight to the first record; one condition with OR over null and value would be a scan.
 */
function beyondCursor({ column, ascending, nullable }: Order, { key, id }: Cursor): Where[] {
  if (column === 'id') return [{ id: { [ascending ? 'gt' : 'lt']: id } }]
  if (key === null) {
    const nulls = { [column]: null, id: { gt: id } }
    return ascending ? [nulls, { [column]: { not: null } }] : [nulls]
  }
  const [reach, past] = ascending ? ['gte', 'gt'] : ['lte', 'lt']
  const values = { [column]: { [reach]: key }, OR: [{ [column]: { [past]: key } }, { id: { gt: id } }] }
  return nullable && !ascending ? [values, { [column]: null }] : [values]
}

function writeCursor(sort: string, { column }: Order, row: { id: number }): string {
  const value = (row as Record<string, unknown>)[column]
  const key = value instanceof Date ? value.getTime() : value
  return Buffer.from(JSON.stringify([sort, key, row.id])).toString('base64url')
}

function readCursor(text: string, sort: string, order: Order): Cursor {
  const [cursorSort, key, id] = parse(text)
  if (!isInt(id) || typeof cursorSort !== 'string') throw wrongCursor('must be the cursor of a next link')
  if (cursorSort !== sort) throw wrongCursor(`must be read with the sort it came from, and not with ${sort}`)
  const known = keyOf(key, order)
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

function keyOf(key: unknown, { kind, nullable }: Order): Key | undefined {
  if (key === null) return nullable ? null : undefined
  if (kind.startsWith('text')) return isStorable(key) ? key : undefined
  if (kind.startsWith('int')) return isInt(key) ? key : undefined
  if (typeof key !== 'number' || !Number.isFinite(key)) return undefined
  if (kind === 'float') return key
  const date = new Date(key)
  return Number.isNaN(date.getTime()) ? undefined : date
}

const isInt = (value: unknown): value is number => Number.isInteger(value) && Math.abs(value as number) < 2 ** 31

const isStorable = (value: unknown): value is string =>
  typeof value === 'string' && value.isWellFormed() && !value.includes('\0')

function wrongCursor(message: string): Problem {
  return new Problem(400, `after: ${message}`, { fields: [{ field: 'after', message }] })
}
