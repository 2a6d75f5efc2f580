import type { Entity, Kind, Order, Where } from './table.ts'

type Key = string | number | boolean | Date | null

/** The last row that was read: its id and its value of the sorted column. */
export interface Position {
  id: number
  key: Key
}

/**
 * What follows a row in an order, as keyset ranges whose rows stand one after the other. An index leads straight to the
 * first row of each; joined by OR they would be a scan.
 *
 * @param kind of the sorted column
 */
export function keysetRanges<Row extends Pick<Entity, 'id'>>(
  where: Where<Row>,
  { column, descending }: Order<Row>,
  kind: Kind,
  { id, key }: Position,
): Where<Row>[] {
  const ids = { id: { [column === 'id' && descending ? 'lt' : 'gt']: id } }
  if (column === 'id') return [ids as Where<Row>]
  // A filter for this very value leaves no others.
  const others = where[column] === key ? [] : valuesAfter(kind, descending, key)
  return [{ [column]: key, ...ids }, ...others.map((values) => ({ [column]: values }))] as Where<Row>[]
}

// Null stands below every value.
function valuesAfter(kind: Kind, descending: boolean, key: Key) {
  if (key === null) return descending ? [] : [{ not: null }]
  if (!descending) return [{ gt: key }]
  return kind.endsWith('?') ? [{ lt: key }, null] : [{ lt: key }]
}
