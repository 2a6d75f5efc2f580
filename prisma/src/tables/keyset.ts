import type { Entity, Kind, Order, Where } from './types.ts'

type Key = string | number | boolean | Date | null

/** The last row read: its id and its value in the sort column. */
export interface Position {
  id: number
  key: Key
}

/**
 * Keyset ranges for the rows after a position, in sort order. Each range can seek in an index; combined with OR they would
 * cause a scan.
 *
 * @param kind of the sort column
 */
export function keysetRanges<Row extends Pick<Entity, 'id'>>(
  where: Where<Row>,
  { column, descending }: Order<Row>,
  kind: Kind,
  { id, key }: Position,
): Where<Row>[] {
  const ids = { id: { [column === 'id' && descending ? 'lt' : 'gt']: id } }
  if (column === 'id') return [ids as Where<Row>]
  // A filter on exactly this value excludes all others.
  const others = where[column] === key ? [] : valuesAfter(kind, descending, key)
  return [{ [column]: key, ...ids }, ...others.map((values) => ({ [column]: values }))] as Where<Row>[]
}

// Null sorts below every value.
function valuesAfter(kind: Kind, descending: boolean, key: Key) {
  if (key === null) return descending ? [] : [{ not: null }]
  if (!descending) return [{ gt: key }]
  return kind.endsWith('?') ? [{ lt: key }, null] : [{ lt: key }]
}
