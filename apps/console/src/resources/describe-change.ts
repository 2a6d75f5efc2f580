import type { Resource } from './resource.ts'
import { valueText } from './value-text.ts'

const MAX_CHARACTERS = 60

/** `price from 42.50 to 12.25, category from none to kitchen`: the fields that differ. */
export function describeChange(
  resource: Resource,
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): string {
  const text = (field: string, value: unknown) => {
    const column = resource.recordColumns.find((column) => column.field === field)
    const whole = column === undefined ? String(value) : valueText(column, value)
    return whole.length > MAX_CHARACTERS ? `${whole.slice(0, MAX_CHARACTERS)}…` : whole
  }
  return Object.keys(after)
    .filter((field) => before[field] !== after[field])
    .map((field) => {
      const label = resource.recordColumns.find((column) => column.field === field)?.label.toLowerCase() ?? field
      return `${label} from ${text(field, before[field])} to ${text(field, after[field])}`
    })
    .join(', ')
}
