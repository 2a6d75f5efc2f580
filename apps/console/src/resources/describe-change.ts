import type { Column, Resource } from './resource.ts'
import { valueText } from './value-text.ts'

const MAX_CHARACTERS = 60

type Values = Record<string, unknown> | null | undefined

/** Whether a change sets a field to another value. Every change sets the version and the times, which users do not edit. */
export function isChanged({ field, kind }: Pick<Column, 'field' | 'kind'>, before: Values, after: Values): boolean {
  return kind !== 'time' && field !== 'version' && before?.[field] !== after?.[field]
}

/** `price from 42.50 to 12.25, category from none to kitchen`: the fields that differ. */
export function describeChange(
  { recordColumns }: Resource,
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): string {
  const text = (column: Column, value: unknown) => {
    const whole = valueText(column, value)
    return whole.length > MAX_CHARACTERS ? `${whole.slice(0, MAX_CHARACTERS)}…` : whole
  }
  return recordColumns
    .filter((column) => isChanged(column, before, after))
    .map((column) => {
      const { label, field } = column
      return `${label.toLowerCase()} from ${text(column, before[field])} to ${text(column, after[field])}`
    })
    .join(', ')
}
