import type { Column, Resource } from '../resources/resource.ts'

/**
 * Where a cell stands on a phone, in a row of two lines: the name and a figure, then some other values and a time. The record's
 * page shows `extra`.
 */
export type Place = 'name' | 'figure' | 'rest' | 'when' | 'extra'

const MAX_REST = 3

/** The places of columns, by field. */
export function placesOf({ nameField, actions }: Resource, columns: Column[]): Map<string, Place> {
  const others = columns.filter(({ field }) => field !== nameField)
  const set = new Set(actions.flatMap(({ changes = {} }) => Object.keys(changes)))
  // A state says more than a number.
  const figure = others.find(({ field }) => set.has(field)) ?? others.find(({ kind }) => kind === 'number')
  const when = others.findLast(({ kind }) => kind === 'time' || kind === 'date')
  const left = others.filter((column) => column !== figure && column !== when)
  const words = left.filter(({ kind }) => kind === 'text' || kind === 'choice')
  const rest = (words.length > 1 ? words : left).slice(0, MAX_REST)
  const placeOf = (column: Column): Place => {
    if (column.field === nameField) return 'name'
    if (column === figure) return 'figure'
    if (column === when) return 'when'
    return rest.includes(column) ? 'rest' : 'extra'
  }
  return new Map(columns.map((column) => [column.field, placeOf(column)]))
}
