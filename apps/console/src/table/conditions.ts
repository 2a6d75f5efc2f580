import { type Field, filterText } from '../resources/field.ts'
import { labelOf } from '../resources/labels.ts'
import type { Resource } from '../resources/resource.ts'
import type { View } from './view.ts'

/** One or several filters as one control: a range has two ends. */
export interface Condition {
  /** `Price` for a range, otherwise the label of its filter. */
  label: string
  /** The filters to enter. */
  fields: Field[]
  /** All filters that belong to it, of which a link may set any. */
  all: Field[]
  /** Whether it can be added. A range includes equality, which only a link sets. */
  isOffered: boolean
}

const BOUND = /^(.+)_(gte?|lte?)$/
const ENDS = [
  ['gte', 'gt'],
  ['lte', 'lt'],
]

/** The conditions of a list, other than the search. */
export function conditionsOf({ filters, search, recordColumns }: Resource, view: View): Condition[] {
  const columnOf = ({ name }: Field) => recordColumns.find(({ field }) => field === BOUND.exec(name)?.[1])
  const others = filters.filter((filter) => filter !== search)
  const groups = Map.groupBy(others, (filter) => columnOf(filter)?.field ?? `=${filter.name}`)
  return [...groups].flatMap(([name, all]) => {
    const [first] = all
    if (first === undefined) return []
    const column = columnOf(first)
    if (column === undefined) return { label: first.label, fields: all, all, isOffered: !groups.has(first.name) }
    const fields = ENDS.flatMap((ends) => {
      const found = ends.flatMap((end) => all.find((field) => field.name === `${name}_${end}`) ?? [])
      return found.find((field) => view[field.name] !== undefined) ?? found[0] ?? []
    })
    return { label: column.label, fields, all, isOffered: true }
  })
}

/** Those that a view sets. */
export function setConditions(resource: Resource, view: View): Condition[] {
  return conditionsOf(resource, view).filter(({ all }) => all.some(({ name }) => view[name] !== undefined))
}

/** `Category is` and `lighting`, `Price` and `20 – 80`, `Price` and `below 50`. */
export function conditionText({ recordColumns }: Resource, { label, all }: Condition, view: View) {
  const isUpper = ({ name }: Field) => Number(/_lte?$/.test(name))
  const set = all.filter(({ name }) => view[name] !== undefined).toSorted((a, b) => isUpper(a) - isUpper(b))
  const texts = set.map((field) =>
    field.refersTo === undefined ? filterText(field, view[field.name]) : labelOf(field.refersTo, view[field.name]),
  )
  const [only] = all
  if (only !== undefined && !BOUND.test(only.name)) {
    const isEquality = recordColumns.some(({ field }) => field === only.name)
    return { label: isEquality ? `${label} is` : label, value: texts.join(', ') }
  }
  if (set.length === 2 && set.every(({ name }) => name.endsWith('e'))) return { label, value: texts.join(' – ') }
  return {
    label,
    value: set.map((field, index) => `${field.label.slice(label.length + 1)} ${texts[index]}`).join(', '),
  }
}

/** `category is kitchen, price below 50`; empty without filters. */
export function describeFilters(resource: Resource, view: View): string {
  const searched = view.q === undefined ? [] : [`search ${String(view.q)}`]
  const others = setConditions(resource, view).map((condition) => {
    const { label, value } = conditionText(resource, condition, view)
    return `${label.toLowerCase()} ${value}`
  })
  return [...searched, ...others].join(', ')
}

/** A change of a view that removes filters. */
export function without(fields: readonly Field[]): Record<string, undefined> {
  return Object.fromEntries(fields.map(({ name }) => [name, undefined]))
}
