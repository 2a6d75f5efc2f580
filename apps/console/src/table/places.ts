import type { Column, Resource } from '../resources/resource.ts'

/**
 * Where a cell stands on a phone, in a row of two lines: the name and a figure, then some other values and a time. The record's
 * page shows `extra`.
 */
export type Place = 'name' | 'figure' | 'rest' | 'when' | 'extra'

const MAX_REST = 4

/** The places of columns, by field. */
export function placesOf({ nameField }: Resource, columns: Column[]): Map<string, Place> {
  const others = columns.filter(({ field }) => field !== nameField)
  const figure = others.find(({ kind }) => kind === 'number')
  const when = others.findLast(({ kind }) => kind === 'time' || kind === 'date')
  const rest = others.filter((column) => column !== figure && column !== when).slice(0, MAX_REST)
  const placeOf = (column: Column): Place => {
    if (column.field === nameField) return 'name'
    if (column === figure) return 'figure'
    if (column === when) return 'when'
    return rest.includes(column) ? 'rest' : 'extra'
  }
  return new Map(columns.map((column) => [column.field, placeOf(column)]))
}
